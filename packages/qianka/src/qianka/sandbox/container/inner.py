"""The first process of a container: waits for the word to begin, runs the command, tells how it ended, holds on.

It holds on so that its control group can still be read when the command is over, and it ends, with
everything in the container, when the supervisor is gone: their line is then closed. Reaches nothing that the
command could not reach itself, so whoever took it over could only lie about their own exit code.
Written for any Python 3.6 or newer: an operator's own image brings its own.
"""

from __future__ import annotations

LINE = "/run/qianka.sock"
UNABLE = 125
"""exit status: it never came to the command"""

PROGRAM = r"""
import array, ctypes, json, os, resource, select, signal, socket, sys
line = socket.socket(socket.AF_UNIX)
line.connect(sys.argv[1])
told, given = b"", array.array("i")
while not told.endswith(b"\n"):
    part, extra, _, _ = line.recvmsg(65536, socket.CMSG_LEN(given.itemsize))
    if not part:
        os._exit(125)
    told += part
    for level, kind, data in extra:
        if (level, kind) == (socket.SOL_SOCKET, socket.SCM_RIGHTS):
            given.frombytes(data[: len(data) - len(data) % given.itemsize])
what = json.loads(told.decode())
if given:
    # The end of a socket that joins two sandboxes of one run.
    what["environment"]["QIANKA_SOCKET"] = str(given[0])
# Neither traced nor read by the command, which runs as the same user.
ctypes.CDLL(None).prctl(4, 0, 0, 0, 0)
if what["cores"]:
    os.sched_setaffinity(0, what["cores"])
heard, wake = os.pipe()
os.set_blocking(heard, False)
os.set_blocking(wake, False)
signal.set_wakeup_fd(wake)
signal.signal(signal.SIGCHLD, lambda *_: None)
fault, trouble = os.pipe()
child = os.fork()
if child == 0:
    try:
        os.setsid()
        for number in given:
            os.set_inheritable(number, True)
        for number in (signal.SIGCHLD, signal.SIGPIPE, signal.SIGXFSZ, signal.SIGINT):
            signal.signal(number, signal.SIG_DFL)
        for name, value in what["bounds"].items():
            kind = getattr(resource, "RLIMIT_" + name)
            hard = resource.getrlimit(kind)[1]
            value = value if hard == resource.RLIM_INFINITY else min(value, hard)
            resource.setrlimit(kind, (value, value))
        try:
            with open("/proc/self/oom_score_adj", "w") as file:
                file.write("500")  # when memory is short this goes, not the one that tells of it
        except OSError:
            pass
        os.dup2(os.open("/dev/null", os.O_RDONLY), 0)
        os.chdir(what["cwd"])
        os.execvpe(what["argv"][0], what["argv"], what["environment"])
    except (OSError, ValueError) as error:
        text = "execvp %s: %s" % (what["argv"][0], error)
        os.write(2, (text + "\n").encode("utf-8", "replace"))
        os.write(trouble, b"!")
    finally:
        os._exit(127)
os.close(trouble)
for number in given:
    os.close(number)
if os.read(fault, 1):
    os._exit(127)
poller = select.poll()
poller.register(line, select.POLLIN)
poller.register(heard, select.POLLIN)
code = None
while True:
    for descriptor, _ in poller.poll():
        if descriptor == line.fileno():
            os._exit(125 if code is None else code)
        try:
            os.read(heard, 4096)
        except BlockingIOError:
            pass
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            break
        if not pid:
            break
        if pid == child:
            code = os.WEXITSTATUS(status) if os.WIFEXITED(status) else 128 + os.WTERMSIG(status)
            line.sendall(b'{"exit-code": %d}\n' % code)
"""
