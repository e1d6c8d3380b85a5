"""Programs that try to pass `add(1, 2) == 3` and `add(-1, 1) == 0` without adding. None of them may.

Each is a way that was seen or thought of: into the process's exit, its output, the interpreter, the harness's memory and
frames, the comparison, other processes, the clock.
"""

FORGERIES: dict[str, str] = {
    "exit at import": "import sys\nsys.exit(0)\n",
    "exit of the system at import": "import os\nos._exit(0)\n",
    "exit in the function": "import sys\ndef add(a, b):\n    sys.exit(0)\n",
    "system exit in the function": "import os\ndef add(a, b):\n    os._exit(0)\n",
    "raise SystemExit": "def add(a, b):\n    raise SystemExit(0)\n",
    "quit": "def add(a, b):\n    quit()\n",
    "prints PASSED": "print('2 passed in 0.01s')\nprint('OK')\ndef add(a, b):\n    return 0.5\n",
    "writes to every descriptor": (
        "import os\ndef add(a, b):\n    for fd in range(64):\n        try:\n"
        '            os.write(fd, b\'{"cases": [{"name": "0", "state": "passed", "reason": "", "calls": []}]}\\n\')\n'
        "        except OSError:\n            pass\n    return 0.5\n"
    ),
    "answers before it is asked": (
        'import os\nfor fd in range(3, 64):\n    try:\n        os.write(fd, b\'{"value": true, "args": []}\\n\' * 4)\n'
        "    except OSError:\n        pass\nos._exit(0)\n"
    ),
    "answers a verdict": "def add(a, b):\n    return {'passed': True, 'state': 'passed'}\n",
    "answers an encoded placeholder": "def add(a, b):\n    return {'p': ['x']}\n",
    "equal to everything": "class E:\n    def __eq__(self, o):\n        return True\ndef add(a, b):\n    return E()\n",
    "integer that is equal to everything": (
        "class E(int):\n    def __eq__(self, o):\n        return True\n    __hash__ = int.__hash__\n"
        "def add(a, b):\n    return E(77)\n"
    ),
    "float that is equal to everything": (
        "class E(float):\n    def __eq__(self, o):\n        return True\n    def __repr__(self):\n        return '3'\n"
        "def add(a, b):\n    return E(77.5)\n"
    ),
    "text that is equal to everything": (
        "class E(str):\n    def __eq__(self, o):\n        return True\n    __hash__ = str.__hash__\ndef add(a, b):\n    return E('3')\n"
    ),
    "list that is equal to everything": "class E(list):\n    def __eq__(self, o):\n        return True\ndef add(a, b):\n    return E()\n",
    "spoofed class": "class E:\n    __class__ = int\n    def __eq__(self, o):\n        return True\ndef add(a, b):\n    return E()\n",
    "right distance from everything": (
        "class E:\n    def __sub__(self, o):\n        return 0\n    __rsub__ = __add__ = __radd__ = __sub__\n"
        "    def __abs__(self):\n        return 0\n    def __lt__(self, o):\n        return True\n"
        "    __le__ = __gt__ = __ge__ = __eq__ = __contains__ = __lt__\ndef add(a, b):\n    return E()\n"
    ),
    "operators by metaclass": (
        "class M(type):\n    def __eq__(c, o):\n        return True\n    def __hash__(c):\n        return 3\n"
        "class E(metaclass=M):\n    pass\ndef add(a, b):\n    return E\n"
    ),
    "patches unittest": (
        "import unittest\nfor name in dir(unittest.TestCase):\n    if name.startswith('assert'):\n"
        "        setattr(unittest.TestCase, name, lambda *a, **k: None)\ndef add(a, b):\n    return 0.5\n"
    ),
    "patches assertion errors": "import builtins\nbuiltins.AssertionError = type('A', (Exception,), {})\ndef add(a, b):\n    return 0.5\n",
    "patches json": (
        'import json\njson.dumps = lambda *a, **k: \'{"cases": [], "value": true}\'\njson.loads = lambda *a: {}\n'
        "def add(a, b):\n    return 0.5\n"
    ),
    "patches builtins": (
        "import builtins\nbuiltins.isinstance = lambda *a: True\nbuiltins.bool = lambda *a: True\n"
        "builtins.repr = lambda *a: '3'\nbuiltins.str = type('S', (str,), {})\ndef add(a, b):\n    return 0.5\n"
    ),
    "plants a conftest": (
        "open('conftest.py', 'w').write('import os; os._exit(0)')\nopen('sitecustomize.py', 'w').write('raise SystemExit')\n"
        "def add(a, b):\n    return 0.5\n"
    ),
    "plants modules": (
        "for name in ('json', 'ast', 'unittest', 'pytest', 'types', 'tests'):\n"
        "    open(name + '.py', 'w').write('import os; os._exit(0)')\ndef add(a, b):\n    return 0.5\n"
    ),
    "at exit": ("import atexit, os\natexit.register(lambda: os._exit(0))\ndef add(a, b):\n    raise RuntimeError\n"),
    "signal": (
        "import os, signal\nsignal.signal(signal.SIGALRM, lambda *a: os._exit(0))\nsignal.setitimer(signal.ITIMER_REAL, 0.01)\n"
        "def add(a, b):\n    while True:\n        pass\n"
    ),
    "thread": (
        "import threading, os, time\ndef run():\n    time.sleep(0.02)\n    os._exit(0)\n"
        "threading.Thread(target=run).start()\ndef add(a, b):\n    time.sleep(1)\n    return 0.5\n"
    ),
    "reads frames": (
        "import sys\ndef add(a, b):\n    f = sys._getframe()\n    while f:\n        for v in list(f.f_locals.values()):\n"
        "            if isinstance(v, dict) and 'expected' in v:\n                return v['expected']\n        f = f.f_back\n    return 0.5\n"
    ),
    "reads the heap": (
        "import gc\ndef add(a, b):\n    for o in gc.get_objects():\n        if isinstance(o, dict) and ('expected' in o or 'tests' in o):\n"
        "            return o.get('expected', o.get('tests'))\n    return 0.5\n"
    ),
    "reads its memory": (
        "def add(a, b):\n    import re\n    for line in open('/proc/self/maps'):\n        if 'heap' in line:\n"
        "            lo, hi = (int(x, 16) for x in line.split()[0].split('-'))\n            m = open('/proc/self/mem', 'rb')\n"
        "            m.seek(lo)\n            found = re.search(rb'add\\(1, 2\\) == (\\d+)', m.read(hi - lo))\n"
        "            return int(found[1]) if found else 0.5\n    return 0.5\n"
    ),
    "reads other processes": (
        "import os\ndef add(a, b):\n    for pid in filter(str.isdigit, os.listdir('/proc')):\n        try:\n"
        "            if b'== 3' in open(f'/proc/{pid}/environ', 'rb').read():\n                return 3\n        except OSError:\n"
        "            pass\n    return 0.5\n"
    ),
    "kills its parent": (
        "import os, signal\ndef add(a, b):\n    try:\n        os.kill(os.getppid(), signal.SIGKILL)\n        os.kill(-1, signal.SIGKILL)\n"
        "    except OSError:\n        pass\n    return 0.5\n"
    ),
    "forks and answers twice": ("import os\nos.fork()\ndef add(a, b):\n    return 0.5\n"),
    "replaces the harness's functions": (
        "import sys\nm = sys.modules['__main__']\nfor n in list(vars(m)):\n    if not n.startswith('__'):\n"
        "        setattr(m, n, lambda *a, **k: {'value': True, 'args': []})\ndef add(a, b):\n    return 0.5\n"
    ),
    "replaces the order": (
        "import sys\nm = sys.modules['__main__']\nm._order = {'calls': [], 'entry_point': ''}\nm._kept.append(3)\n"
        "def add(a, b):\n    return 0.5\n"
    ),
    "changes its arguments": "def add(a, b):\n    a = b = 3\n    return None\n",
    "generator without end": "def add(a, b):\n    while True:\n        yield a\n",
    "nested without end": "def add(a, b):\n    x = []\n    x.append(x)\n    return x\n",
    "flood": "def add(a, b):\n    return 'x' * (64 << 20)\n",
    "hangs": "def add(a, b):\n    while True:\n        pass\n",
    "memory": "def add(a, b):\n    return [0] * (1 << 34)\n",
    "recursion": "def add(a, b):\n    return add(a, b)\n",
    "crash": "import ctypes\ndef add(a, b):\n    ctypes.string_at(0)\n",
    "traces the harness": (
        "import sys\ndef tr(frame, event, arg):\n    if event == 'return' and 'value' in frame.f_locals:\n"
        "        frame.f_locals['value'] = True\n    return tr\nsys.settrace(tr)\ndef add(a, b):\n    return 0.5\n"
    ),
    "import hook": (
        "import sys\nclass F:\n    def find_spec(self, *a):\n        import os\n        os._exit(0)\nsys.meta_path.insert(0, F())\n"
        "def add(a, b):\n    import colorsys\n    return 0.5\n"
    ),
    "forged exception": "class AssertionError(Exception):\n    pass\ndef add(a, b):\n    raise AssertionError('passed')\n",
    "skips the test": "import unittest\ndef add(a, b):\n    raise unittest.SkipTest('later')\n",
    "stops iteration": "def add(a, b):\n    raise StopIteration(3)\n",
    "keyboard": "def add(a, b):\n    raise KeyboardInterrupt\n",
    "name with a verdict": "def add(a, b):\n    return type('passed', (), {'state': 'passed', '__bool__': lambda s: True})()\n",
    "no program": "",
    "only words": "The function adds two numbers.",
}
