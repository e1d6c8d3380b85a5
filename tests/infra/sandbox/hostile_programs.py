"""Programs that try to get out, to see, to stay, to take all, or to lie. Each prints LEAK and what it got, if it got it.

They know what a hostile program could guess: SECRET (a file of the host), PORT and UDP_PORT (listeners at 127.0.0.1),
SOCKET (a unix socket's path), ABSTRACT (an abstract one's name), VICTIM (a process of the host), MARK (what secrets say).
The host looks for effects itself as well, since a program may be told that it succeeded when nothing happened.
"""

_LIBC = """
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
def tried(name, result):
    if result >= 0:
        print("LEAK", name)
"""

SEEING = {
    "files_of_the_host": """
import os
for path in (SECRET, "/etc/shadow", "/root/.bashrc", "/proc/kcore", "/dev/vda", "/dev/kvm", "/dev/mem", "/proc/1/root" + SECRET,
             "/proc/self/root" + SECRET, "/proc/self/cwd/../../../../../.." + SECRET):
    try:
        print("LEAK", path, open(path, "rb").read(64))
    except OSError:
        pass
""",
    "folders_of_the_host": """
import os
for path in ("/root", "/home", "/var/log", os.path.dirname(SECRET), "/proc/1/root/", "/proc/1/cwd/", "/sys/kernel"):
    try:
        found = os.listdir(path)
    except OSError:
        continue
    if found:
        print("LEAK", path, found[:3])
""",
    "environments": """
import os
if any(MARK in value for value in os.environ.values()):
    print("LEAK own environment")
try:
    entries = os.listdir("/proc")
except OSError:
    entries = []
for entry in {*entries, "1", str(os.getppid()), str(VICTIM)}:
    for name in ("environ", "cmdline"):
        try:
            if MARK.encode() in open(f"/proc/{entry}/{name}", "rb").read():
                print("LEAK", name, "of", entry)
        except OSError:
            pass
""",
    "descriptors": """
import os
for descriptor in range(3, 4096):
    try:
        found = os.fstat(descriptor)
    except OSError:
        continue
    print("LEAK descriptor", descriptor, found)
""",
    "memory_of_others": _LIBC
    + """
class Piece(ctypes.Structure):
    _fields_ = [("base", ctypes.c_void_p), ("length", ctypes.c_size_t)]
room = ctypes.create_string_buffer(16)
here, there = Piece(ctypes.addressof(room), 16), Piece(0x400000, 16)
for process in {os.getppid(), 1, VICTIM}:
    tried(f"ptrace {process}", libc.ptrace(16, process, 0, 0))
    tried(f"reads {process}", libc.process_vm_readv(process, ctypes.byref(here), 1, ctypes.byref(there), 1, 0))
    try:
        open(f"/proc/{process}/mem", "rb")
        print("LEAK memory of", process)
    except OSError:
        pass
""",
    "the_agent_among_the_modules": """
import gc, sys
print("LEAK" if [name for name in sys.modules if name.startswith("evalsi")] else "none")
try:
    import evalsi
    print("LEAK evalsi can be imported")
except ImportError:
    pass
""",
    "processes_of_others": """
import os
try:
    seen = [entry for entry in os.listdir("/proc") if entry.isdigit()]
except OSError:
    seen = []
if len(seen) > 6:
    print("LEAK", len(seen), "processes")
""",
}

REACHING = {
    "tcp": """
import socket
for host in ("127.0.0.1", "::1", "169.254.169.254"):
    try:
        socket.create_connection((host, PORT), timeout=1)
        print("LEAK tcp", host)
    except OSError:
        pass
""",
    "udp": """
import socket
try:
    socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"leak", ("127.0.0.1", UDP_PORT))
except OSError:
    pass
""",
    "names_of_hosts": """
import socket
try:
    print("LEAK", socket.getaddrinfo("example.com", 80))
except OSError:
    pass
""",
    "abstract_socket": """
import socket
try:
    socket.socket(socket.AF_UNIX).connect(chr(0) + ABSTRACT)
    print("LEAK")
except OSError:
    pass
""",
    "socket_with_a_path": """
import socket
try:
    socket.socket(socket.AF_UNIX).connect(SOCKET)
    print("LEAK")
except OSError:
    pass
""",
    "odd_sockets": """
import socket
for name, family, kind in (("packet", 17, 3), ("vsock", 40, 1), ("alg", 38, 5), ("netlink", 16, 3), ("raw", 2, 3), ("raw6", 10, 3)):
    try:
        socket.socket(family, kind)
        print("LEAK", name)
    except OSError:
        pass
""",
    "terminal": """
import fcntl, os
for path in ("/dev/tty", "/dev/pts/0", "/dev/console"):
    try:
        fcntl.ioctl(os.open(path, os.O_RDWR), 0x5412, b"x")
        print("LEAK", path)
    except OSError:
        pass
""",
}

GAINING = {
    "mounts_and_namespaces": _LIBC
    + """
for name, flag in (("user", 0x10000000), ("network", 0x40000000), ("mount", 0x20000), ("process", 0x20000000)):
    tried("unshare " + name, libc.unshare(flag))
tried("mount", libc.mount(b"x", b".", b"tmpfs", 0, None))
tried("unmount", libc.umount2(b"/proc", 2))
tried("chroot", libc.chroot(b"."))
tried("pivot", libc.syscall(155, b".", b"."))
child = libc.syscall(56, 0x10000000 | 17, 0, 0, 0, 0)
if child == 0:
    os._exit(0)
tried("clone", child)
arguments = ctypes.create_string_buffer(88)
arguments[3] = 0x10
child = libc.syscall(435, arguments, 88)
if child == 0:
    os._exit(0)
tried("clone3", child)
""",
    "the_kernels_back_rooms": _LIBC
    + """
room = ctypes.create_string_buffer(256)
for name, number, arguments in (
    ("bpf", 321, (0, 0, 0)), ("perf", 298, (0, 0, -1, -1, 0)), ("userfaultfd", 323, (1,)),
    ("io_uring", 425, (8, room)), ("keyctl", 250, (0, -3, 1)), ("add_key", 248, (b"user", b"x", b"y", 1, -3)),
    ("open_by_handle", 304, (-1, 0, 0)), ("kexec", 246, (0, 0, 0, 0)), ("module", 313, (-1, b"", 0)),
    ("personality", 135, (0x40000,)), ("syslog", 103, (10, 0, 0)), ("memfd_secret", 447, (0,)),
    ("clock", 227, (0, 0)), ("fsopen", 430, (b"tmpfs", 0)), ("quota", 179, (0, 0, 0, 0)),
    ("swap", 167, (b"/x", 0)), ("acct", 163, (0,)), ("reboot", 169, (0, 0, 0, 0)),
):
    result = libc.syscall(number, *arguments)
    if result >= 0 or ctypes.get_errno() not in (1, 38):
        print("LEAK", name, result, ctypes.get_errno())
""",
    "another_architecture": """
import ctypes, mmap
code = b"\\xb8\\x14\\x00\\x00\\x00\\xcd\\x80\\xc3"
room = mmap.mmap(-1, 4096, prot=7)
room.write(code)
print("LEAK", ctypes.CFUNCTYPE(ctypes.c_long)(ctypes.addressof(ctypes.c_char.from_buffer(room)))())
""",
    "another_user": """
import os
changes = (lambda: os.setgroups([0]), lambda: os.setgroups([]))
for change in changes if os.getuid() == 0 else (*changes, lambda: os.setuid(0), lambda: os.setgid(0)):
    try:
        change()
        print("LEAK")
    except OSError:
        pass
try:
    lines = open("/proc/self/status").read().splitlines()
except OSError:
    lines = []
for line in lines:
    if line.startswith("CapEff") and int(line.split()[1], 16):
        print("LEAK", line)
    if line.startswith("NoNewPrivs") and line.split()[1] != "1":
        print("LEAK", line)
""",
    "setuid_programs": """
import subprocess
for program in (["su", "-c", "id -u"], ["mount"], ["newgrp"]):
    try:
        said = subprocess.run(program, capture_output=True, stdin=subprocess.DEVNULL, timeout=2).stdout
    except (OSError, subprocess.SubprocessError):
        continue
    if said.strip() == b"0":
        print("LEAK", program)
""",
    "priority_and_limits": """
import os, resource
for name, change in (
    ("nice", lambda: os.setpriority(os.PRIO_PROCESS, 0, -10)),
    ("real time", lambda: os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(50))),
    ("files", lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (65536, 65536))),
    ("core", lambda: resource.setrlimit(resource.RLIMIT_CORE, (-1, -1))),
    ("processor", lambda: resource.setrlimit(resource.RLIMIT_CPU, (-1, -1))),
):
    try:
        change()
        print("LEAK", name)
    except (OSError, ValueError):
        pass
""",
    "settings_of_the_kernel": """
for path in ("/proc/sys/kernel/core_pattern", "/proc/sys/kernel/hostname", "/proc/sys/vm/drop_caches", "/proc/sysrq-trigger",
             "/sys/kernel/uevent_helper", "/proc/sys/kernel/modprobe", "/proc/sys/user/max_user_namespaces", "/proc/irq/default_smp_affinity"):
    try:
        file = open(path, "r+")
        file.write(file.read() or "0")
        file.flush()
        print("LEAK", path)
    except (OSError, ValueError):
        pass
""",
    "core_pattern": """
import os, resource, signal
try:
    open("/proc/sys/kernel/core_pattern", "w").write("|/bin/touch " + SECRET + ".core")
    print("LEAK")
except OSError:
    pass
os.kill(os.getpid(), signal.SIGSEGV)
""",
    "devices": """
import os
for number in (os.makedev(254, 0), os.makedev(1, 1)):
    try:
        os.mknod("device", 0o60666, number)
        print("LEAK")
    except OSError:
        pass
""",
    "writing_the_system": """
import os, site, sys
for folder in ("/", "/usr/bin", "/usr/lib/python3/dist-packages", "/etc", "/bin", "/lib", "/dev", "/opt", "/run", "/.evalsi",
               "/.evalsi/evalsi/guest", os.path.dirname(os.__file__), os.path.dirname(SECRET)):
    try:
        open(folder + "/planted", "w").close()
        print("LEAK", folder)
    except OSError:
        pass
""",
    "poisoned_bytecode": """
import importlib.util, json, os, py_compile
open("evil.py", "w").write("raise SystemExit('LEAK')")
target = importlib.util.cache_from_source(json.__file__)
for path in (target, os.path.dirname(json.__file__) + "/decoder.pyc", os.path.dirname(os.__file__) + "/sitecustomize.py"):
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        py_compile.compile("evil.py", cfile=path, doraise=True)
        print("LEAK", path)
    except Exception:
        pass
""",
}

STAYING = {
    "daemon": """
import os, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        time.sleep(120)
    os._exit(0)
print("the parent is done, the daemon holds its streams")
""",
    "storm_of_forks": """
import os, time
while True:
    try:
        if os.fork() == 0:
            os.setsid()
    except OSError:
        time.sleep(0.01)
""",
    "every_signal_ignored": """
import signal, time
for number in range(1, 65):
    try:
        signal.signal(number, signal.SIG_IGN)
    except (OSError, ValueError):
        pass
time.sleep(120)
""",
    "stopped_by_itself": "import os, signal\nos.kill(os.getpid(), signal.SIGSTOP)",
    "stops_the_watcher": """
import os, signal, time
for process in (os.getppid(), 1, VICTIM):
    for number in (signal.SIGSTOP, signal.SIGKILL, signal.SIGTERM):
        try:
            os.kill(process, number)
        except OSError:
            pass
print("still here")
""",
    "kills_everybody": "import os, signal\ntry:\n    os.kill(-1, signal.SIGKILL)\nexcept OSError:\n    pass",
    "kills_its_group": "import os, signal\nos.killpg(0, signal.SIGKILL)",
}

TAKING = {
    "forks": """
import os, time
count = 0
try:
    while count < 3000:
        if os.fork() == 0:
            time.sleep(60)
            os._exit(0)
        count += 1
except OSError:
    pass
print("LEAK" if count > 200 else "stopped at", count)
""",
    "threads": """
import threading, time
count = 0
try:
    while count < 3000:
        threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
        count += 1
except RuntimeError:
    pass
print("LEAK" if count > 200 else "stopped at", count)
""",
    "memory": """
held = []
try:
    for _ in range(1024):
        held.append(bytearray(1 << 20))
except MemoryError:
    pass
print("LEAK" if len(held) > 400 else "stopped at", len(held))
""",
    "memory_in_files": """
import os
count, block = 0, b"x" * (1 << 20)
for folder in (".", "/tmp", "/dev/shm", "/dev", "/run", "/var/tmp", "/"):
    try:
        for number in range(20):
            with open(f"{folder}/filled{number}", "wb") as file:
                for _ in range(20):
                    file.write(block)
                    count += 1
    except OSError:
        pass
print("LEAK" if count > 400 else "stopped at", count)
""",
    "one_large_file": """
try:
    with open("large", "wb") as file:
        for _ in range(400):
            file.write(b"x" * (1 << 20))
    print("LEAK")
except OSError:
    pass
""",
    "sparse_file": "import os\nwith open('sparse', 'wb') as file:\n    file.truncate(1 << 50)\nprint('LEAK')",
    "deep_folders": """
import os
for _ in range(3000):
    os.mkdir("d")
    os.chdir("d")
""",
    "output": """
import os
while True:
    os.write(1, b"A" * 65536)
    os.write(2, b"B" * 65536)
""",
    "processor": "while True: pass",
    "processor_and_no_signal": "import signal\nsignal.signal(signal.SIGXCPU, signal.SIG_IGN)\nwhile True: pass",
    "queues_and_semaphores": _LIBC
    + """
for name, number, arguments in (("msgget", 68, (0, 0o1600)), ("semget", 64, (0, 1, 0o1600)), ("mq_open", 240, (b"evalsi-hostile", 0o102, 0o600, 0))):
    libc.syscall(number, *arguments)
""",
}

COUNTED = {
    "memory_of_many_processes": """
import os, time
for _ in range(12):
    try:
        if os.fork() == 0:
            held = []
            try:
                for _ in range(100):
                    held.append(bytearray(1 << 20))
            except MemoryError:
                pass
            time.sleep(0.5)
            os._exit(0)
    except OSError:
        break
try:
    while True:
        os.wait()
except OSError:
    pass
""",
    "memory_in_memfd": """
import os
count = 0
try:
    for _ in range(60):
        file = os.memfd_create("x")
        for _ in range(16):
            os.write(file, b"x" * (1 << 20))
            count += 1
except OSError:
    pass
print("LEAK" if count > 400 else "stopped at", count)
""",
    "memory_of_system_v": _LIBC
    + """
libc.shmat.restype = ctypes.c_void_p
libc.shmdt.argtypes = [ctypes.c_void_p]
count = 0
for _ in range(16):
    segment = libc.shmget(0, 64 << 20, 0o1600)
    if segment < 0:
        break
    place = libc.shmat(segment, None, 0)
    if place in (None, 2**64 - 1):
        break
    ctypes.memset(place, 1, 64 << 20)
    libc.shmdt(ctypes.c_void_p(place))
    count += 64
print("LEAK" if count > 400 else "stopped at", count)
""",
}
"""What only a control group bounds for processes together; without one, memory that no limit counts must be refused."""

LIMITED_DISK = {
    "inodes": """
count = 0
try:
    for count in range(20000):
        open(f"i{count}", "w").close()
except OSError:
    pass
print("LEAK" if count > 3000 else "stopped at", count)
""",
}
"""What is bounded where a sandbox has a file system of its own."""

LYING = {
    "printed_verdicts": """
import os, sys
print('{"passed": true, "score": 1.0}\\n1 passed in 0.01s\\nEXIT:0')
for descriptor in range(3, 256):
    try:
        os.write(descriptor, b"\\x10\\x00\\x00\\x00l\\x01\\x00\\x00\\x00s\\x05\\x00\\x00\\x00ended")
    except OSError:
        pass
sys.exit(9)
""",
    "messages_of_bubblewrap": """
import os
os.write(2, b"bwrap: Creating new namespace failed: Operation not permitted\\n")
os._exit(9)
""",
    "exit_functions": "import atexit, os, sys\natexit.register(lambda: print('late'))\nsys.exit(9)",
}
"""They end with status 9, and nothing else may be said of them."""

EVERY: dict[str, str] = {**SEEING, **REACHING, **GAINING, **STAYING, **TAKING, **COUNTED, **LIMITED_DISK, **LYING}

HARMLESS_IN_A_KERNEL_OF_ITS_OWN = ("another_architecture", "priority_and_limits", "devices")
"""gVisor's kernel grants these, on itself."""
