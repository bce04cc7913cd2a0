import os
os.chdir("/out"); n = 0
try:
    for n in range(3000): os.mkdir("d"); os.chdir("d")
    print("ATTACK deepdir", n + 1)
except OSError as e: print("ATTACK deepdir BLOCKED after", n, e.strerror)
os.chmod(".", 0)
