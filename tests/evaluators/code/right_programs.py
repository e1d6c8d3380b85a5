"""Programs that are right, with tests as people write them. Each passes; what cannot be graded here is skipped and never failed."""

from typing import Any

RIGHT: dict[str, tuple[str, dict[str, Any]]] = {
    "import of everything": (
        """def add(a, b):
    return a + b
""",
        {
            "test": """from solution import *

def test_a():
    assert add(1, 2) == 3
"""
        },
    ),
    "fixture": (
        """def add(a, b):
    return a + b
""",
        {
            "test": """import pytest
from solution import add
@pytest.fixture
def two():
    return 2
def test_a(two):
    assert add(1, two) == 3
"""
        },
    ),
    "fixture that ends": (
        """def add(a, b):
    return a + b
""",
        {
            "test": """import pytest
from solution import add
@pytest.fixture()
def two():
    yield 2
def test_a(two):
    assert add(1, two) == 3
"""
        },
    ),
    "fixture of a class, used by itself": (
        """def add(a, b):
    return a + b
""",
        {
            "test": """import pytest
from solution import add
class TestAdd:
    @pytest.fixture(autouse=True)
    def prep(self):
        self.two = 2
    def test_a(self):
        assert add(1, self.two) == 3
"""
        },
    ),
    "rows by pytest.param": (
        """def add(a, b):
    return a + b
""",
        {
            "test": """import pytest
from solution import add
@pytest.mark.parametrize('a,b,c',[pytest.param(1,2,3,id='x'),(2,2,4)])
def test_a(a,b,c):
    assert add(a,b) == c
"""
        },
    ),
    "rows with ids, twice": (
        """def add(a, b):
    return a + b
""",
        {
            "test": """import pytest
from solution import add
@pytest.mark.parametrize(('a','b','c'),[(1,2,3)],ids=['x'])
@pytest.mark.parametrize('k',[0,1])
def test_a(a,b,c,k):
    assert add(a,b)+k == c+k
"""
        },
    ),
    "rows of a class": (
        """def add(a, b):
    return a + b
""",
        {
            "test": """import pytest
from solution import add
@pytest.mark.parametrize('k',[1,2])
class TestX:
    def test_a(self,k):
        assert add(k,1) == k+1
"""
        },
    ),
    "own error": (
        """class MyError(ValueError):
    pass
def boom(x):
    raise MyError('no '+str(x))
""",
        {
            "test": """import pytest
from solution import boom, MyError
def test_a():
    with pytest.raises(MyError, match='no 3') as e:
        boom(3)
    assert 'no 3' in str(e.value)
"""
        },
    ),
    "own error caught as its base": (
        """class MyError(ValueError):
    pass
def boom(x):
    raise MyError('no '+str(x))
""",
        {
            "test": """import pytest
from solution import boom, MyError
def test_a():
    with pytest.raises(ValueError) as e:
        boom(3)
    assert 'no 3' == str(e.value)
    assert e.type is not None
"""
        },
    ),
    "own error in unittest": (
        """class MyError(ValueError):
    pass
def boom(x):
    raise MyError('no '+str(x))
""",
        {
            "test": """import unittest
from solution import boom, MyError
class T(unittest.TestCase):
    def test_a(self):
        with self.assertRaises(MyError):
            boom(3)
"""
        },
    ),
    "error by a call": (
        """class MyError(ValueError):
    pass
def boom(x):
    raise MyError('no '+str(x))
""",
        {
            "test": """import unittest
from solution import boom, MyError
class T(unittest.TestCase):
    def test_a(self):
        self.assertRaises(ValueError, boom, 3)
    def test_b(self):
        with self.assertRaisesRegex(ValueError, 'no 3'):
            boom(3)
"""
        },
    ),
    "own error caught by except": (
        """class MyError(ValueError):
    pass
def boom(x):
    raise MyError('no '+str(x))
""",
        {
            "test": """from solution import boom, MyError
def test_a():
    try:
        boom(3)
        assert False
    except MyError as e:
        assert 'no' in str(e)
"""
        },
    ),
    "error in a script": (
        """class MyError(ValueError):
    pass
def boom(x):
    raise MyError('no '+str(x))
""",
        {
            "test_list": [
                """try:
    boom(3)
    assert False
except ValueError:
    pass
"""
            ]
        },
    ),
    "about equal dictionaries": (
        """def f():
    return {'a': 0.1+0.2}
""",
        {
            "test": """import pytest
from solution import f
def test_a():
    assert f() == pytest.approx({'a': 0.3})
    assert pytest.approx({'a': 0.3}, rel=1e-3) == f()
    assert f()['a'] == pytest.approx(0.3, nan_ok=True)
"""
        },
    ),
    "set up with the method": (
        """def add(a, b):
    return a + b
""",
        {
            "test": """from solution import add
class TestAdd:
    def setup_method(self, method):
        self.x = 1
    def teardown_method(self):
        pass
    def test_a(self):
        assert add(self.x, 2) == 3
"""
        },
    ),
    "set up of a class": (
        """def add(a, b):
    return a + b
""",
        {
            "test": """import unittest
from solution import add
class T(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.x = 1
    def test_a(self):
        for i in range(3):
            with self.subTest(i=i):
                self.assertEqual(add(self.x, i), 1+i)
        self.assertAlmostEqual(add(.1,.2), .3)
        self.assertIsInstance(add(1,2), int)
        self.assertIn(add(1,2),[3])
        self.assertTrue(add(1,2)==3)
        self.assertListEqual([add(1,1)],[2])
if __name__=='__main__':
    unittest.main()
"""
        },
    ),
    "coroutine": (
        """async def add(a,b):
    return a+b
""",
        {
            "test": """import asyncio
from solution import add
def test_a():
    assert asyncio.run(add(1,2)) == 3
"""
        },
    ),
    "imports in a field of their own": (
        """import math
def vol(r):
    return 4/3*math.pi*r**3
""",
        {
            "test_list": ["assert math.isclose(vol(10), 4188.790204786391, rel_tol=0.001)"],
            "test_imports": ["import math"],
        },
    ),
    "marks": (
        """def add(a, b):
    return a + b
""",
        {
            "test": """import pytest
from solution import add
@pytest.mark.skip(reason='x')
def test_b():
    assert add(1,1)==5
@pytest.mark.skipif(True, reason='x')
def test_c():
    assert add(1,1)==5
@pytest.mark.xfail
def test_d():
    assert add(1,1)==5
def test_a():
    assert add(1,2)==3
"""
        },
    ),
    "one of several errors": (
        """class MyError(ValueError):
    pass
def boom(x):
    raise MyError('no '+str(x))
""",
        {
            "test": """import pytest
from solution import *
def test_a():
    pytest.raises(ValueError, boom, 3)
    with pytest.raises((TypeError, ValueError)):
        boom(1)
"""
        },
    ),
    "argument by name changed in place": (
        """def srt(xs):
    xs.sort()
""",
        {
            "test": """from solution import srt
def test_a():
    d=[3,1]
    srt(xs=d)
    assert d==[1,3]
"""
        },
    ),
    "constants": (
        """LIMIT = 5
NAMES = ['a','b']
D = {'k': 1}
""",
        {
            "test": """from solution import LIMIT, NAMES, D
def test_a():
    assert LIMIT == 5 and LIMIT < 6 and LIMIT + 1 == 6 and 1 + LIMIT == 6
    assert NAMES == ['a','b'] and 'a' in NAMES and len(NAMES) == 2 and NAMES[0] == 'a'
    assert D['k'] == 1 and D.get('k') == 1
    assert sum(x for x in [LIMIT]) == 5
"""
        },
    ),
    "dataclass and enumeration": (
        """from dataclasses import dataclass
from enum import Enum
class Color(Enum):
    RED=1
@dataclass
class P:
    x:int
    y:int
    def norm(self):
        return abs(self.x)+abs(self.y)
def mk(a):
    return P(a,a)
def col():
    return Color.RED
""",
        {
            "test": """from solution import P, mk, Color, col
def test_a():
    p = mk(2)
    assert p.x == 2 and p.norm() == 4
    assert p == P(2,2)
    assert isinstance(p, P)
    assert col() == Color.RED
    assert Color.RED.value == 1
    assert repr(P(1,2)) == 'P(x=1, y=2)'
    p.x = 7
    assert p.norm() == 9
"""
        },
    ),
    "context manager": (
        """class C:
    def __enter__(self):
        self.v=1
        return self
    def __exit__(self,*a):
        self.v=2
        return False
""",
        {
            "test": """from solution import C
def test_a():
    c = C()
    with c as d:
        assert d.v == 1
    assert c.v == 2
"""
        },
    ),
    "next of a generator": (
        """def gen(n):
    for i in range(n):
        yield i
""",
        {
            "test": """from solution import gen
def test_a():
    g = gen(2)
    assert next(g) == 0
    assert next(g) == 1
"""
        },
    ),
    "function of a fresh object": (
        """class Solution:
    def add(self,a,b):
        return a+b
""",
        {
            "test": """def check(candidate):
    assert candidate(a=1,b=2)==3
    assert candidate(1,2)==3
""",
            "entry_point": "Solution().add",
        },
    ),
    "dataclass": (
        """from dataclasses import dataclass
@dataclass
class N:
    v: 'int'
def mk(v):
    return N(v)
""",
        {"test_list": ["assert mk(3).v == 3"]},
    ),
    "its own module": (
        """import sys
def f():
    return sys.modules[__name__].f is f
""",
        {"test_list": ["assert f() == True"]},
    ),
    "named tuple": (
        """from typing import NamedTuple
class Q(NamedTuple):
    a:int
def f():
    return Q(1)
""",
        {"test_list": ["assert f().a == 1", "assert f() == (1,)"]},
    ),
    "50 lens": (
        """def f(n):
    return [0]*n
""",
        {
            "test": """from solution import f
def test_a():
    assert len(f(0)) == 0
    assert isinstance(f(0), list)
    assert len(f(1)) == 1
    assert isinstance(f(1), list)
    assert len(f(2)) == 2
    assert isinstance(f(2), list)
    assert len(f(3)) == 3
    assert isinstance(f(3), list)
    assert len(f(4)) == 4
    assert isinstance(f(4), list)
    assert len(f(5)) == 5
    assert isinstance(f(5), list)
    assert len(f(6)) == 6
    assert isinstance(f(6), list)
    assert len(f(7)) == 7
    assert isinstance(f(7), list)
    assert len(f(8)) == 8
    assert isinstance(f(8), list)
    assert len(f(9)) == 9
    assert isinstance(f(9), list)
    assert len(f(10)) == 10
    assert isinstance(f(10), list)
    assert len(f(11)) == 11
    assert isinstance(f(11), list)
    assert len(f(12)) == 12
    assert isinstance(f(12), list)
    assert len(f(13)) == 13
    assert isinstance(f(13), list)
    assert len(f(14)) == 14
    assert isinstance(f(14), list)
    assert len(f(15)) == 15
    assert isinstance(f(15), list)
    assert len(f(16)) == 16
    assert isinstance(f(16), list)
    assert len(f(17)) == 17
    assert isinstance(f(17), list)
    assert len(f(18)) == 18
    assert isinstance(f(18), list)
    assert len(f(19)) == 19
    assert isinstance(f(19), list)
    assert len(f(20)) == 20
    assert isinstance(f(20), list)
    assert len(f(21)) == 21
    assert isinstance(f(21), list)
    assert len(f(22)) == 22
    assert isinstance(f(22), list)
    assert len(f(23)) == 23
    assert isinstance(f(23), list)
    assert len(f(24)) == 24
    assert isinstance(f(24), list)
    assert len(f(25)) == 25
    assert isinstance(f(25), list)
    assert len(f(26)) == 26
    assert isinstance(f(26), list)
    assert len(f(27)) == 27
    assert isinstance(f(27), list)
    assert len(f(28)) == 28
    assert isinstance(f(28), list)
    assert len(f(29)) == 29
    assert isinstance(f(29), list)
    assert len(f(30)) == 30
    assert isinstance(f(30), list)
    assert len(f(31)) == 31
    assert isinstance(f(31), list)
    assert len(f(32)) == 32
    assert isinstance(f(32), list)
    assert len(f(33)) == 33
    assert isinstance(f(33), list)
    assert len(f(34)) == 34
    assert isinstance(f(34), list)
    assert len(f(35)) == 35
    assert isinstance(f(35), list)
    assert len(f(36)) == 36
    assert isinstance(f(36), list)
    assert len(f(37)) == 37
    assert isinstance(f(37), list)
    assert len(f(38)) == 38
    assert isinstance(f(38), list)
    assert len(f(39)) == 39
    assert isinstance(f(39), list)
"""
        },
    ),
    "50 lens unittest": (
        """def f(n):
    return [0]*n
""",
        {
            "test": """import unittest
from solution import f
class T(unittest.TestCase):
    def test_a(self):
        self.assertEqual(len(f(0)), 0)
        self.assertEqual(len(f(1)), 1)
        self.assertEqual(len(f(2)), 2)
        self.assertEqual(len(f(3)), 3)
        self.assertEqual(len(f(4)), 4)
        self.assertEqual(len(f(5)), 5)
        self.assertEqual(len(f(6)), 6)
        self.assertEqual(len(f(7)), 7)
        self.assertEqual(len(f(8)), 8)
        self.assertEqual(len(f(9)), 9)
        self.assertEqual(len(f(10)), 10)
        self.assertEqual(len(f(11)), 11)
        self.assertEqual(len(f(12)), 12)
        self.assertEqual(len(f(13)), 13)
        self.assertEqual(len(f(14)), 14)
        self.assertEqual(len(f(15)), 15)
        self.assertEqual(len(f(16)), 16)
        self.assertEqual(len(f(17)), 17)
        self.assertEqual(len(f(18)), 18)
        self.assertEqual(len(f(19)), 19)
        self.assertEqual(len(f(20)), 20)
        self.assertEqual(len(f(21)), 21)
        self.assertEqual(len(f(22)), 22)
        self.assertEqual(len(f(23)), 23)
        self.assertEqual(len(f(24)), 24)
        self.assertEqual(len(f(25)), 25)
        self.assertEqual(len(f(26)), 26)
        self.assertEqual(len(f(27)), 27)
        self.assertEqual(len(f(28)), 28)
        self.assertEqual(len(f(29)), 29)
        self.assertEqual(len(f(30)), 30)
        self.assertEqual(len(f(31)), 31)
        self.assertEqual(len(f(32)), 32)
        self.assertEqual(len(f(33)), 33)
        self.assertEqual(len(f(34)), 34)
        self.assertEqual(len(f(35)), 35)
        self.assertEqual(len(f(36)), 36)
        self.assertEqual(len(f(37)), 37)
        self.assertEqual(len(f(38)), 38)
        self.assertEqual(len(f(39)), 39)
        self.assertEqual(len(f(40)), 40)
        self.assertEqual(len(f(41)), 41)
        self.assertEqual(len(f(42)), 42)
        self.assertEqual(len(f(43)), 43)
        self.assertEqual(len(f(44)), 44)
"""
        },
    ),
    "infinite gen": (
        """def p():
    i=0
    while True:
        yield i
        i+=1
""",
        {
            "test": """import itertools
from solution import p
def test_a():
    assert list(itertools.islice(p(), 200)) == list(range(200))
    g=p()
    assert [next(g) for _ in range(70)] == list(range(70))
    import types
    assert isinstance(g, types.GeneratorType)
"""
        },
    ),
    "gen pass on": (
        """def p(n):
    yield from range(n)
def total(xs):
    return sum(xs)
""",
        {
            "test": """from solution import p,total
def test_a():
    assert total(p(5)) == 10
    g=p(5)
    next(g)
    next(g)
    assert total(g) == 9
"""
        },
    ),
    "gen raises": (
        """def p(n):
    yield 1
    raise ValueError('end')
""",
        {
            "test": """import pytest
from solution import p
def test_a():
    g=p(5)
    assert next(g)==1
    with pytest.raises(ValueError, match='end'):
        next(g)
"""
        },
    ),
    "stopiter": (
        """class C:
    def __init__(self,n):
        self.n=n
    def __iter__(self):
        return self
    def __next__(self):
        if self.n<=0:
            raise StopIteration
        self.n-=1
        return self.n
    def left(self):
        return self.n
""",
        {
            "test": """import pytest
from solution import C
def test_a():
    assert list(C(3))==[2,1,0]
    c=C(1)
    assert next(c)==0
    with pytest.raises(StopIteration):
        next(c)
    assert c.left()==0
    assert [x for x in C(2)] == [1,0]
"""
        },
    ),
    "err attrs": (
        """class E(Exception):
    def __init__(self,need):
        super().__init__(f'need {need}')
        self.need=need
def f(x):
    raise E(x)
""",
        {
            "test": """import pytest
from solution import f,E
def test_a():
    with pytest.raises(E) as e:
        f(5)
    assert e.value.need == 5 and str(e.value)=='need 5' and e.type.__name__ == 'E'
"""
        },
    ),
    "base err": (
        """class Base(Exception): pass
class E(Base): pass
def f(x):
    raise E(x)
""",
        {
            "test": """import pytest
import solution
def test_a():
    with pytest.raises(solution.Base):
        solution.f(5)
    try:
        solution.f(1)
    except solution.Base as e:
        assert str(e)=='1'
"""
        },
    ),
    "keyerror": (
        """def f(d,k):
    return d[k]
""",
        {
            "test": """import pytest
from solution import f
def test_a():
    with pytest.raises(KeyError) as e:
        f({},'x')
    assert str(e.value)=="'x'" and e.value.args == ('x',)
"""
        },
    ),
    "json err": (
        """import json
def f(s):
    return json.loads(s)
""",
        {
            "test": """import pytest, json
from solution import f
def test_a():
    with pytest.raises(json.JSONDecodeError):
        f('{')
    with pytest.raises(ValueError):
        f('{')
"""
        },
    ),
    "dec err": (
        """from decimal import *
def f(s):
    return Decimal(s)
""",
        {
            "test": """import pytest, decimal
from solution import f
def test_a():
    with pytest.raises(decimal.InvalidOperation):
        f('{')
    assert f('1.5') == decimal.Decimal('1.5')
"""
        },
    ),
    "zerodiv": (
        """def f(a):
    return 1/a
""",
        {
            "test_list": [
                """try:
    f(0)
except ZeroDivisionError:
    pass
else:
    assert False"""
            ]
        },
    ),
    "intenum": (
        """from enum import IntEnum, Enum, auto
class L(IntEnum):
    LOW=1
    HIGH=2
class C(str,Enum):
    A='a'
class D(Enum):
    X=auto()
    Y=auto()
def lv(x):
    return L.HIGH if x else L.LOW
def c():
    return C.A
def d():
    return [D.X,D.Y]
""",
        {
            "test": """from solution import *
def test_a():
    assert lv(1)==2 and lv(1)==L.HIGH and lv(0)!=L.HIGH and lv(1).name=='HIGH' and lv(1)>1 and lv(1)+1==3
    assert c()=='a' and c()==C.A and c().value=='a'
    assert d()==[D.X,D.Y] and D.X in d() and d()[0] is not None
    assert {D.X: 1}[d()[0]] == 1
    assert lv(1) is not None and lv(1).value == 2
"""
        },
    ),
    "Solution entry": (
        """class Solution:
    def add(self,a,b):
        return a+b
""",
        {
            "test": """def check(candidate):
    assert candidate(a=1,b=2)==3
    assert candidate(1,2)==3
""",
            "entry_point": "Solution().add",
        },
    ),
    "timedelta": (
        """import datetime as d
def f(a,b):
    return b-a
""",
        {
            "test": """from datetime import date, timedelta
from solution import f
def test_a():
    assert f(date(2020,1,1),date(2020,1,3)) == timedelta(days=2)
    assert f(date(2020,1,1),date(2020,1,3)).days == 2
"""
        },
    ),
    "property": (
        """class T:
    def __init__(self,c):
        self._c=c
    @property
    def f(self):
        return self._c*2
    @f.setter
    def f(self,v):
        self._c=v/2
    def __call__(self,x):
        return x+self._c
    def __setitem__(self,k,v):
        self._c=v
    def __getitem__(self,k):
        return self._c
    def __delitem__(self,k):
        self._c=0
    @classmethod
    def mk(cls):
        return cls(9)
    @staticmethod
    def st():
        return 4
""",
        {
            "test": """from solution import T
def test_a():
    t=T(2)
    assert t.f==4
    t.f=10
    assert t._c==5 and t(1)==6
    t['a']=7
    assert t['x']==7
    assert T.mk()._c==9 and T.st()==4
    assert hasattr(t,'f')
    del t['a']
    assert t._c==0
"""
        },
    ),
    "classobj eq": (
        """class V:
    def __init__(s,x,y):
        s.x=x;s.y=y
    def __eq__(s,o):
        return isinstance(o,V) and (s.x,s.y)==(o.x,o.y)
    def __add__(s,o):
        return V(s.x+o.x,s.y+o.y)
    def __mul__(s,k):
        return V(s.x*k,s.y*k)
    def __rmul__(s,k):
        return s*k
    def __neg__(s):
        return V(-s.x,-s.y)
    def __repr__(s):
        return f'V({s.x}, {s.y})'
    def __sub__(s,o):
        return V(s.x-o.x,s.y-o.y)
    def __hash__(s):
        return hash((s.x,s.y))
    def __lt__(s,o):
        return s.x<o.x
""",
        {
            "test": """from solution import V
def test_a():
    a=V(1,2)
    b=V(3,4)
    assert a+b==V(4,6)
    assert a*2==V(2,4)
    assert 2*a==V(2,4)
    assert -a==V(-1,-2)
    assert b-a==V(2,2)
    assert repr(a)=='V(1, 2)' and str(a)=='V(1, 2)' and f'{a}'=='V(1, 2)'
    assert a!=b and not a==b
    assert a<b
    assert sorted([b,a])[0].x==1
    assert len({a,b})==2
    assert a is not None and a != None
    a+=b
    assert a==V(4,6)
"""
        },
    ),
    "frozen": (
        """from dataclasses import dataclass, FrozenInstanceError
@dataclass(frozen=True)
class P:
    x:int
""",
        {
            "test": """import pytest, dataclasses
from solution import P
def test_a():
    p=P(1)
    with pytest.raises(dataclasses.FrozenInstanceError):
        p.x=2
    with pytest.raises(AttributeError):
        p.x=2
    with pytest.raises(AttributeError):
        p.nothing
"""
        },
    ),
    "tree": (
        """class Node:
    def __init__(s,v,l=None,r=None):
        s.v=v;s.l=l;s.r=r
def depth(n):
    return 0 if n is None else 1+max(depth(n.l),depth(n.r))
def build(xs):
    n=None
    for x in xs:
        n=Node(x,n)
    return n
""",
        {
            "test": """from solution import Node,depth,build
def test_a():
    assert depth(Node(1,Node(2),None))==2
    n=build([1,2,3])
    out=[]
    while n:
        out.append(n.v)
        n=n.l
    assert out==[3,2,1]
    assert depth(None)==0
    assert build([]) is None
"""
        },
    ),
    "lru": (
        """from functools import lru_cache
@lru_cache(None)
def fib(n):
    return n if n<2 else fib(n-1)+fib(n-2)
""",
        {"test_list": ["assert fib(30)==832040", "assert fib(10)==55"]},
    ),
    "rand seed": (
        """import random
def sh(xs,seed):
    random.seed(seed)
    ys=xs[:]
    random.shuffle(ys)
    return ys
""",
        {
            "test": """from solution import sh
def test_a():
    xs=list(range(10))
    assert sorted(sh(xs,1))==xs
    assert sh(xs,1)==sh(xs,1)
    assert xs==list(range(10))
"""
        },
    ),
    "unseeded shuffle": (
        """import random
def sh(xs):
    ys=xs[:]
    random.shuffle(ys)
    return ys
""",
        {
            "test": """from solution import sh
def test_a():
    xs=list(range(10))
    assert sorted(sh(xs))==xs
    assert len(sh(xs))==10
"""
        },
    ),
    "set const": (
        """ALLOWED={'a','b'}
from enum import Enum
class S(Enum):
    ON='on'
    @property
    def t(self):
        return self.value.upper()
class M:
    def __init__(self):
        self.s=S.ON
""",
        {
            "test": """from solution import ALLOWED,S,M
def test_a():
    assert ALLOWED=={'a','b'} and 'a' in ALLOWED
    m=M()
    assert m.s==S.ON and m.s is not None and m.s.value=='on' and m.s.t=='ON'
    assert S('on')==S.ON
    assert [s.name for s in S]==['ON'] and len(S)==1
"""
        },
    ),
}

NOT_GRADED: dict[str, tuple[str, dict[str, Any]]] = {
    "capsys": (
        """def hello():
    print('hi')
""",
        {
            "test": """from solution import hello
def test_a(capsys):
    hello()
    assert capsys.readouterr().out == 'hi\\n'
"""
        },
    ),
    "redirect": (
        """def hello():
    print('hi')
""",
        {
            "test": """import io, contextlib
from solution import hello
def test_a():
    s = io.StringIO()
    with contextlib.redirect_stdout(s):
        hello()
    assert s.getvalue() == 'hi\\n'
"""
        },
    ),
    "callback": (
        """def apply(f, x):
    return f(x)
""",
        {
            "test": """from solution import apply
def test_a():
    assert apply(lambda x: x+1, 1) == 2
"""
        },
    ),
    "mock": (
        """import random
def roll():
    return random.randint(1,6)
""",
        {
            "test": """from unittest.mock import patch
import solution
def test_a():
    with patch('solution.random.randint', return_value=4):
        assert solution.roll() == 4
"""
        },
    ),
    "tmp_path": (
        """def rd(p):
    return open(p).read()
""",
        {
            "test": """from solution import rd
def test_a(tmp_path):
    p = tmp_path/'a'
    p.write_text('x')
    assert rd(str(p)) == 'x'
"""
        },
    ),
    "inherit": (
        """class A:
    pass
class B(A):
    pass
""",
        {
            "test": """from solution import A,B
def test_a():
    assert issubclass(B, A)
    assert isinstance(B(), A)
    assert type(B()).__name__ == 'B'
    assert B.__name__=='B'
"""
        },
    ),
    "module fixture+params": (
        """def add(a,b):
    return a+b
""",
        {
            "test": """import pytest
from solution import add
@pytest.fixture(params=[1,2])
def n(request):
    return request.param
def test_a(n):
    assert add(n,0)==n
"""
        },
    ),
}
