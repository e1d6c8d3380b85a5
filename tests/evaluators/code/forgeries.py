"""Programs that try to pass `add(1, 2) == 3` and `add(-1, 1) == 0` without adding. None of them may.

Each is a way that was seen or thought of: into the process's exit, its output, the interpreter, the harness's memory and
frames, the comparison, other processes, the clock.
"""

from typing import Any

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
    "a number too long to be shown": (
        """def add(a, b):
    return 10**5000
"""
    ),
    "a fraction that takes for ever": (
        """import fractions
fractions.Fraction.__str__ = lambda s: '1e999999999'
def add(a, b):
    return fractions.Fraction(1,3)
"""
    ),
    "a decimal without end": (
        """import decimal
def add(a, b):
    return decimal.Decimal('1e999999999')
"""
    ),
    "a signalling nan": (
        """import decimal
def add(a, b):
    return decimal.Decimal('sNaN')
"""
    ),
    "hashes that collide": (
        """M=(1<<61)-1
def add(a, b):
    return {M*i for i in range(1,40000)}
"""
    ),
    "a range without end": (
        """def add(a, b):
    return range(10**30)
"""
    ),
    "half a character": (
        """def add(a, b):
    return '\\ud800'
"""
    ),
    "lines of its own": (
        """import os,sys
for fd in range(3,64):
    try:
        os.write(fd,b'{"value":{"q":[3]},"args":[]}\\n{"value":NaN}\\n')
    except OSError: pass
os._exit(0)
"""
    ),
    "both raised and a value": (
        """import os
for fd in range(3,64):
    try:
        os.write(fd,b'{"raised":[],"value":3}\\n'*3)
    except OSError: pass
os._exit(0)
"""
    ),
    "raises what is no error": (
        """import os
for fd in range(3,64):
    try:
        os.write(fd,b'{"raised":["GeneratorExit"],"message":"x"}\\n'*3)
    except OSError: pass
os._exit(0)
"""
    ),
    "raises what is no list": (
        """import os
for fd in range(3,64):
    try:
        os.write(fd,b'{"raised":5,"message":{}}\\n'*3)
    except OSError: pass
os._exit(0)
"""
    ),
    "says that it is gone": (
        """import os
for fd in range(3,64):
    try:
        os.write(fd,b'{"gone":1}\\n{"value":{"o":[0,"x"]}}\\n')
    except OSError: pass
os._exit(0)
"""
    ),
    "answers what it was asked": (
        """import sys
o=sys.modules['__main__']._order
import json
def add(a,b):
    return json.dumps(o)
"""
    ),
    "nested to the limit": (
        """def add(a,b):
    x=3
    for _ in range(58): x=[x]
    return x
"""
    ),
    "nested beyond the reader": (
        """import os
for fd in range(3,64):
    try:
        os.write(fd,b'{"value":'+b'['*5000+b']'*5000+b'}\\n')
    except OSError: pass
os._exit(0)
"""
    ),
    "nan of another kind": (
        """def add(a,b):
    return complex('nan')
"""
    ),
    "does not load, at length": (
        """raise ValueError('x'*10**7)
"""
    ),
    "its own base exception": (
        """class B(BaseException): pass
def add(a,b):
    raise B
"""
    ),
    "group of errors": (
        """def add(a,b):
    raise ExceptionGroup('x',[ValueError(1)])
"""
    ),
    "error whose text exits": (
        """class X(Exception):
    def __str__(self):
        raise SystemExit(0)
def add(a,b):
    raise X
"""
    ),
    "answers by its child": (
        """import os,time
if os.fork():
    os._exit(0)
time.sleep(.3)
def add(a, b):
    return 0.5
"""
    ),
    "always three": (
        """import sys,types
sys.modules['json'].dumps=lambda *a,**k:'{"value":3,"args":[]}'
def add(a,b):
    return 9
"""
    ),
    "reads its command line": (
        """import os
try:
    d=os.readlink('/proc/self/fd/0')+open('/proc/self/cmdline').read()
except OSError: d=''
def add(a,b):
    return 3 if '== 3' in d else 1
"""
    ),
}

HELPED_BY_THE_TEST: dict[str, tuple[str, dict[str, Any]]] = {
    "a module that the test does not import": (
        """class math:
    isclose=staticmethod(lambda *a,**k:True)
def vol(r):
    return 0
""",
        {"test_list": ["assert math.isclose(vol(10), 4188.79, rel_tol=0.001)"]},
    ),
    "a package that the test does not import": (
        """class np:
    allclose=staticmethod(lambda *a,**k:True)
    array=staticmethod(lambda x:x)
def f(r):
    return 0
""",
        {"test_list": ["assert np.allclose(f(10), np.array([1,2]))"]},
    ),
    "a comparison that the test does not import": (
        """isclose=lambda *a,**k:True
def f(r):
    return 0
""",
        {"test_list": ["assert isclose(f(10), 4.5)"]},
    ),
    "a counter that the test does not import": (
        """Counter=lambda *a,**k:1
def f(r):
    return 0
""",
        {"test_list": ["assert Counter(f('aab')) == Counter(['a'])"]},
    ),
    "at no distance": (
        """class Area:
    def __init__(s,*a): pass
    def __sub__(s,o): return 0
""",
        {"test_list": ["assert abs(Area(5) - 78.5) < 0.1"]},
    ),
    "reads which constant comes": (
        """import sys
class Color:
    RED='r'
    GREEN='g'
def light(x):
    for c in sys.modules['__main__']._order['calls']:
        if c['target'][:1]==['Color']: return getattr(Color,c['target'][1])
    return 1
""",
        {
            "test_list": [
                """from solution import Color
assert light(5) == Color.RED""",
                """assert light(6) == Color.GREEN
""",
            ]
        },
    ),
    "more items than can be asked about": (
        """def f(n):
    return [1]*5000
def g(x):
    return False
""",
        {
            "test": """from solution import f,g
def test_a():
    assert all([g(x) for x in f(3)])
"""
        },
    ),
    "nested so that it cannot be passed on": (
        """def f(n):
    x=1
    for _ in range(59): x=[x]
    return x
def g(x):
    return 7
""",
        {
            "test": """from solution import f,g
def test_a():
    assert g([f(3)]) == 1
"""
        },
    ),
    "a type that was not passed on": (
        """import datetime
n=[0]
def f(n):
    return datetime.date(2000,1,n)
def g(x):
    return 7
""",
        {
            "test": """from solution import f,g
def test_a():
    assert g(f(3)-f(1)) == 1
"""
        },
    ),
    "skips the test": (
        """def f(n):
    import unittest
    raise unittest.SkipTest
""",
        {
            "test": """import unittest
from solution import f
class T(unittest.TestCase):
    def test_a(self):
        self.assertEqual(f(1),2)
"""
        },
    ),
    "never the same twice": (
        """import os
def f(n):
    return os.urandom(4).hex()
def g(x):
    return 1
""",
        {
            "test": """from solution import f,g
def test_a():
    assert g(f(3)) == 1
"""
        },
    ),
    "a generator where a list is passed on": (
        """def f(n):
    yield 1
def g(xs):
    return 2
""",
        {
            "test": """from solution import f, g

def test_g():
    assert g(f(3)) == 6
"""
        },
    ),
    "a coroutine where a value is passed on": (
        """async def f(n):
    return 1
def g(xs):
    return 2
""",
        {
            "test": """from solution import f, g

def test_g():
    assert g(f(3)) == 6
"""
        },
    ),
    "a list where an object is asked for its count": (
        """def f(n):
    return []
def g(x):
    return 2
""",
        {
            "test": """from solution import f, g

def test_g():
    assert g(f(3).count) == 6
"""
        },
    ),
    "an error of the test runner by name": (
        """import sys
def f(n):
    class SkipTest(Exception):
        __module__ = 'unittest.case'
    raise SkipTest
""",
        {
            "test": """import unittest
from solution import f

class F(unittest.TestCase):
    def test_f(self):
        self.assertEqual(f(1), 2)
"""
        },
    ),
    "an iterator without end": (
        """import itertools
def f(n):
    return itertools.count()
""",
        {
            "test": """from solution import f

def test_f():
    assert list(f(3)) == [0, 1, 2]
"""
        },
    ),
    "text where a number is about right": (
        """def f(n):
    return '3'
""",
        {
            "test": """import pytest
from solution import f

def test_f():
    assert f(1) == pytest.approx(3)
"""
        },
    ),
    "an object that is about right": (
        """class E:
    def __abs__(s):
        return 0
    __sub__ = __rsub__ = lambda s, o: s
    __float__ = lambda s: 3.0
    __eq__ = lambda s, o: True
def f(n):
    return E()
""",
        {
            "test": """import pytest
from solution import f

def test_f():
    assert f(1) == pytest.approx(3)
    assert pytest.approx(3) == f(1)
"""
        },
    ),
    "a context that swallows the assertion": (
        """class C:
    def __enter__(s):
        return s
    def __exit__(s, *a):
        return True
    def value(s):
        return 1
""",
        {
            "test": """from solution import C

def test_c():
    c = C()
    with c:
        assert c.value() == 2
"""
        },
    ),
}
"""Programs with the tests that they pass where a test trusts what is theirs, or that they turn into no test at all."""
