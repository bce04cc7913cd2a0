import socket, sys                          # argv: host loopback port, host abstract unix name. UDP connect sends no packet.
port = int(sys.argv[1]) if len(sys.argv) > 1 else 1
def t(n, f):
    try: print("ATTACK net", n, "->", f())
    except OSError as e: print("ATTACK net", n, "BLOCKED", e.strerror or e)
t("host loopback", lambda: socket.create_connection(("127.0.0.1", port), 2).recv(20))
t("host loopback v6", lambda: socket.create_connection(("::1", port), 2).recv(20))
def route():
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.connect(("192.0.2.1", 9)); return "route via " + s.getsockname()[0]
t("outside (route only)", route)
def ab():
    s = socket.socket(socket.AF_UNIX); s.settimeout(2); s.connect("\0" + sys.argv[2]); return s.recv(20)
if len(sys.argv) > 2: t("host abstract unix", ab)
t("AF_VSOCK socket()", lambda: socket.socket(40, 1))
t("AF_NETLINK route", lambda: socket.socket(16, 3)); t("AF_NETLINK audit", lambda: socket.socket(16, 3, 9)); t("AF_PACKET", lambda: socket.socket(17, 3))
t("name lookup", lambda: socket.getaddrinfo("localhost", 80)[0][4])
