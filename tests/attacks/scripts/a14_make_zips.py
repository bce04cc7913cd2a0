import io, os, stat, sys, tarfile, zipfile  # argv: directory to write hostile archives to (host side, run by the tester)
d = sys.argv[1]; os.makedirs(d, exist_ok=True); J = lambda n: os.path.join(d, n)
with zipfile.ZipFile(J("bomb.zip"), "w", zipfile.ZIP_DEFLATED, compresslevel=9) as z:
    with z.open("zeros.bin", "w", force_zip64=True) as f:
        for _ in range(1024): f.write(b"\0" * (1 << 20))          # 1 GiB -> ~1 MiB
with zipfile.ZipFile(J("lie.zip"), "w", zipfile.ZIP_DEFLATED) as z: z.writestr("a.bin", b"\0" * (8 << 20))
b = bytearray(open(J("lie.zip"), "rb").read())                   # declared size patched to 10 bytes in both headers
import struct
for sig, off in ((b"PK\3\4", 22), (b"PK\1\2", 24)):
    i = b.find(sig); b[i + off:i + off + 4] = struct.pack("<I", 10)
open(J("lie.zip"), "wb").write(b)
with zipfile.ZipFile(J("many.zip"), "w") as z:
    for i in range(50000): z.writestr("f%d" % i, b"")
with zipfile.ZipFile(J("slip.zip"), "w") as z: z.writestr("../evil.txt", "x"); z.writestr("/var/tmp/qianka-attacks/evil_abs.txt", "x"); z.writestr("..\\evil2.txt", "x"); z.writestr("ok.txt", "ok")
def sl(z, name, target):
    i = zipfile.ZipInfo(name); i.create_system = 3; i.external_attr = (stat.S_IFLNK | 0o777) << 16; z.writestr(i, target)
with zipfile.ZipFile(J("symlink.zip"), "w") as z: sl(z, "lnk", "/var/tmp/qianka-attacks/hidden"); z.writestr("lnk/planted.txt", "x")
with zipfile.ZipFile(J("dup.zip"), "w") as z:
    import warnings; warnings.simplefilter("ignore"); z.writestr("train.py", "print(1)"); z.writestr("train.py", "print(2)"); z.writestr("TRAIN.py", "print(3)")
with zipfile.ZipFile(J("deep.zip"), "w") as z: z.writestr("a/" * 3000 + "x", "x")
def ti(n, t=tarfile.REGTYPE, link="", size=0):
    i = tarfile.TarInfo(n); i.type = t; i.linkname = link; i.size = size; return i
with tarfile.open(J("evil.tar"), "w") as t:
    t.addfile(ti("../evil_tar.txt", size=1), io.BytesIO(b"x")); t.addfile(ti("/var/tmp/qianka-attacks/evil_tar_abs.txt", size=1), io.BytesIO(b"x"))
    t.addfile(ti("s", tarfile.SYMTYPE, "/var/tmp/qianka-attacks/hidden")); t.addfile(ti("s/p.txt", size=1), io.BytesIO(b"x")); t.addfile(ti("h", tarfile.LNKTYPE, "/var/tmp/qianka-attacks/hidden/labels.csv")); t.addfile(ti("f", tarfile.FIFOTYPE)); t.addfile(ti("d", tarfile.CHRTYPE))
print({f: os.path.getsize(J(f)) for f in sorted(os.listdir(d))})
