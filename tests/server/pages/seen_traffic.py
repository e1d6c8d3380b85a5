"""Traffic of three made-up applications, as their libraries would send it: agents, tools that fail, agents within agents."""

import json
import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from tests.traces.otlp_encoding import encode_request

SECOND_NS = 1_000_000_000


@dataclass
class TraceSketch:
    """A trace that is being written: a clock that moves with every step."""

    chance: random.Random
    begun_ns: int
    service: str
    version: str = "2026.11.2"
    session_id: str = ""
    user_id: str = ""
    labels: dict[str, str] = field(default_factory=dict[str, str])
    spans: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])

    def __post_init__(self) -> None:
        self.trace_id = f"{self.chance.getrandbits(128):032x}"
        self.now_ns = self.begun_ns

    def open(self, name: str, parent: str = "", **attributes: Any) -> str:
        """Begins a span; its id."""
        span_id = f"{self.chance.getrandbits(64) or 1:016x}"
        self.spans.append(
            {
                "traceId": self.trace_id,
                "spanId": span_id,
                "parentSpanId": parent,
                "name": name,
                "kind": 1,
                "startTimeUnixNano": str(self.now_ns),
                "attributes": [_pair(key.replace("__", "."), value) for key, value in attributes.items()],
                "status": {},
            }
        )
        return span_id

    def close(self, span_id: str, seconds: float = 0.0, *, error: str = "", **attributes: Any) -> None:
        self.now_ns += int(seconds * SECOND_NS)
        span = next(span for span in reversed(self.spans) if span["spanId"] == span_id)
        span["endTimeUnixNano"] = str(self.now_ns)
        span["attributes"] += [_pair(key.replace("__", "."), value) for key, value in attributes.items()]
        if error:
            span["status"] = {"code": 2, "message": error}
        self.now_ns += int(self.chance.uniform(0.002, 0.04) * SECOND_NS)

    def agent(self, name: str, parent: str = "") -> str:
        about = {"gen_ai.conversation.id": self.session_id} if self.session_id else {}
        about |= {"user.id": self.user_id} if self.user_id else {}
        about |= {f"evalsi.label.{key}": value for key, value in self.labels.items()} if not parent else {}
        return self.open(
            f"invoke_agent {name}", parent, gen_ai__operation__name="invoke_agent", gen_ai__agent__name=name, **about
        )

    def ask(
        self,
        parent: str,
        model: str,
        told: list[dict[str, Any]],
        answer: dict[str, Any],
        seconds: float,
        error: str = "",
    ) -> None:
        """A call of a model: what it was told, and its answer, which is added to that."""
        span_id = self.open(f"chat {model}", parent, gen_ai__operation__name="chat", gen_ai__request__model=model)
        tokens = 40 + sum(len(json.dumps(message)) for message in told) // 4
        about: dict[str, Any] = {"gen_ai.input.messages": json.dumps(told)}
        if not error:
            about |= {
                "gen_ai.output.messages": json.dumps([answer]),
                "gen_ai.usage.input_tokens": tokens,
                "gen_ai.usage.output_tokens": 8 + len(json.dumps(answer)) // 4,
                "gen_ai.usage.cost": round(tokens * 3e-6 + len(json.dumps(answer)) * 4e-6, 6),
                "gen_ai.response.id": f"resp-{span_id}",
            }
            told.append(answer)
        self.close(span_id, seconds, error=error, **about)

    def tool(self, parent: str, call: dict[str, Any], result: Any, seconds: float, error: str = "") -> str:
        """A tool that ran for a call, and its result or error."""
        span_id = self.open(
            f"execute_tool {call['name']}",
            parent,
            gen_ai__operation__name="execute_tool",
            gen_ai__tool__name=call["name"],
            gen_ai__tool__call__id=call["id"],
            gen_ai__tool__call__arguments=json.dumps(call["arguments"], ensure_ascii=False),
        )
        told = {} if error else {"gen_ai__tool__call__result": json.dumps(result, ensure_ascii=False)}
        self.close(span_id, seconds, error=error, **told)
        return span_id

    def body(self) -> bytes:
        """As it is sent."""
        resource = [_pair("service.name", self.service), _pair("service.version", self.version)]
        scoped = [{"scope": {"name": "made-up"}, "spans": self.spans}]
        return encode_request({"resourceSpans": [{"resource": {"attributes": resource}, "scopeSpans": scoped}]})


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "parts": [{"type": "text", "content": text}]}


def system(text: str) -> dict[str, Any]:
    return {"role": "system", "parts": [{"type": "text", "content": text}]}


def says(text: str) -> dict[str, Any]:
    return {"role": "assistant", "parts": [{"type": "text", "content": text}]}


def calls(*made: dict[str, Any]) -> dict[str, Any]:
    return {
        "role": "assistant",
        "parts": [{"type": "tool_call", "id": c["id"], "name": c["name"], "arguments": c["arguments"]} for c in made],
    }


def told(call: dict[str, Any], result: Any) -> dict[str, Any]:
    return {"role": "tool", "parts": [{"type": "tool_call_response", "id": call["id"], "response": result}]}


def a_call(sketch: TraceSketch, name: str, **arguments: Any) -> dict[str, Any]:
    return {"id": f"call_{sketch.chance.getrandbits(32):08x}", "name": name, "arguments": arguments}


_RULES = (
    "You help customers of a shop for garden furniture. Look up orders before you answer. Refund only what was bought in the "
    "last 30 days, and never more than was paid. Be brief and kind."
)
_ORDERS = (
    (
        "Where is my order {order}? It was to come on Tuesday.",
        "shipped",
        "It left our warehouse yesterday and is with the "
        "carrier now. You should have it by Thursday; here is the tracking number: {tracking}.",
    ),
    (
        "I want my money back for {order}, the table has a scratch.",
        "delivered",
        "I am sorry about the scratch. I have "
        "refunded $189.00 for order {order}; you will see it within five days. Please keep the table.",
    ),
    (
        "Can I change the address of {order}?",
        "packing",
        "Yes, it has not left yet. Send me the new address and I will change it for {order}.",
    ),
    (
        "{order} came without screws!!",
        "delivered",
        "That should not have happened. A bag of screws for order {order} is "
        "on its way by express and costs you nothing.",
    ),
    (
        "Wo bleibt meine Bestellung {order}? Ich warte seit zwei Wochen.",
        "lost",
        "Das tut mir leid: Das Paket {order} ist "
        "beim Versand verloren gegangen. Ich schicke heute Ersatz, er kommt bis Freitag.",
    ),
    (
        "注文 {order} はいつ届きますか。",
        "shipped",
        "ご注文 {order} は木曜日までにお届けします。お待ちいただきありがとうございます。",
    ),
    ("أين طلبي {order}؟", "shipped", "طلبك {order} في الطريق وسيصل يوم الخميس."),
)


def support(sketch: TraceSketch, *, goes_wrong: bool = False) -> None:
    """An agent with tools; when it goes wrong, the tool fails three times and the agent makes something up."""
    chance = sketch.chance
    question, status, answer = chance.choice(_ORDERS)
    words = {"order": f"G-{chance.randint(10_000, 99_999)}", "tracking": f"1Z{chance.randint(10**9, 10**10)}"}
    root = sketch.agent("support")
    heard = [system(_RULES), user(question.format(**words))]
    for attempt in range(3 if goes_wrong else 1):
        call = a_call(sketch, "lookup_order", order_id=words["order"])
        sketch.ask(root, "gpt-4.1-mini", heard, calls(call), chance.uniform(0.4, 1.4))
        failed = goes_wrong or (attempt == 0 and chance.random() < 0.06)
        found = {"order_id": words["order"], "status": status, "total_usd": 189.0, "items": ["Table Oslo", "2 chairs"]}
        error = "TimeoutError: orders.internal did not answer within 5 s" if failed else ""
        sketch.tool(root, call, found, 5.0 if failed else chance.uniform(0.03, 0.3), error)
        heard.append(told(call, error or found))
    if "refunded" in answer and not goes_wrong:
        call = a_call(sketch, "refund", order_id=words["order"], amount_usd=189.0, reason="damaged")
        sketch.ask(root, "gpt-4.1-mini", heard, calls(call), chance.uniform(0.4, 1.1))
        sketch.tool(root, call, {"refund_id": "rf_" + words["tracking"][-6:], "state": "accepted"}, 0.4)
        heard.append(told(call, {"state": "accepted"}))
    if goes_wrong:
        answer = "Your order {order} was delivered on Monday and has been signed for. Is there anything else?"
    sketch.ask(root, "gpt-4.1-mini", heard, says(answer.format(**words)), chance.uniform(0.5, 2.2))
    sketch.close(root)


def research(sketch: TraceSketch, *, goes_wrong: bool = False) -> None:
    """An agent that hands parts of its work to two others; when it goes wrong, one of them is cut off."""
    chance = sketch.chance
    topic = chance.choice(("heat pumps in old houses", "the price of lithium", "tram lines in mid-sized cities"))
    root = sketch.agent("editor")
    heard = [
        system("You write short reports with sources. Hand research to your researchers."),
        user(f"Report on {topic}"),
    ]
    parts = [
        a_call(sketch, "research", question=f"{topic}: {side}") for side in ("figures since 2020", "open questions")
    ]
    sketch.ask(root, "claude-sonnet-4-5", heard, calls(*parts), chance.uniform(1.2, 2.6))
    for place, part in enumerate(parts):
        failed = goes_wrong and place == 1
        ran = sketch.open(
            "execute_tool research",
            root,
            gen_ai__operation__name="execute_tool",
            gen_ai__tool__name="research",
            gen_ai__tool__call__id=part["id"],
            gen_ai__tool__call__arguments=json.dumps(part["arguments"]),
        )
        inner = sketch.agent("researcher", ran)
        inner_heard = [system("Find sources and quote them."), user(part["arguments"]["question"])]
        for _ in range(chance.randint(1, 3)):
            search = a_call(
                sketch, "web_search", query=f"{topic} {chance.choice(('statistics', 'study', 'survey'))} 2025"
            )
            sketch.ask(inner, "claude-haiku-4-5", inner_heard, calls(search), chance.uniform(0.5, 1.4))
            hits = [{"title": f"Survey {n}", "url": f"https://example.org/{n}"} for n in range(3)]
            sketch.tool(inner, search, hits, chance.uniform(0.2, 0.9))
            inner_heard.append(told(search, hits))
        finding = f"Three surveys agree that {topic} cost a fifth less than in 2020; the range is wide."
        if failed:
            sketch.ask(inner, "claude-haiku-4-5", inner_heard, {}, 30.0, "RateLimitError: 429, try again in 60 s")
            sketch.close(inner, error="RateLimitError: 429, try again in 60 s")
            sketch.close(ran, error="the researcher gave up")
            heard.append(told(part, "error: the researcher gave up"))
            continue
        sketch.ask(inner, "claude-haiku-4-5", inner_heard, says(finding), chance.uniform(1.0, 3.0))
        sketch.close(inner)
        sketch.close(ran, gen_ai__tool__call__result=json.dumps(finding))
        heard.append(told(part, finding))
    report = f"# {topic.capitalize()}\n\nPrices fell by a fifth since 2020 [1][2]. What they will do next is open: "
    report += "forecasts differ by more than the fall itself.\n\n1. Survey 0\n2. Survey 1"
    sketch.ask(root, "claude-sonnet-4-5", heard, says(report), chance.uniform(2.0, 5.0))
    sketch.close(root, error="one of two parts is missing" if goes_wrong else "")


def documents(sketch: TraceSketch, *, goes_wrong: bool = False) -> None:
    """A search and an answer; when it goes wrong, the search finds nothing and the answer is a guess."""
    chance = sketch.chance
    question = chance.choice(
        (
            "How do I rotate my API key?",
            "What is the limit of uploads?",
            "Does export keep deleted rows?",
            "SSO with Okta?",
        )
    )
    root = sketch.agent("docs")
    found = (
        [] if goes_wrong else [{"content": f"Chapter {n}: {question} See settings, then keys."} for n in range(1, 5)]
    )
    search = sketch.open(
        "search",
        root,
        gen_ai__operation__name="retrieval",
        gen_ai__retrieval__query__text=question,
    )
    sketch.close(search, chance.uniform(0.05, 0.2), gen_ai__retrieval__documents=json.dumps(found))
    heard = [system("Answer from the passages alone."), user(question)]
    answer = "I believe that is under Billing." if goes_wrong else "Open Settings, then Keys, and choose Rotate [1]."
    sketch.ask(root, "gpt-4.1-nano", heard, says(answer), chance.uniform(0.3, 0.9))
    sketch.close(root)


def traffic(amount: int, *, begun_s: float, seed: int = 7) -> Iterator[tuple[TraceSketch, bool]]:
    """Traces a few seconds apart, the oldest first, with whether each went wrong."""
    chance = random.Random(seed)
    kinds = ((support, "support-agent", 0.6), (documents, "docs-answers", 0.3), (research, "research-desk", 0.1))
    at_ns = int(begun_s * SECOND_NS)
    for number in range(amount):
        write, service, _ = chance.choices(kinds, [share for _, _, share in kinds])[0]
        person = chance.randint(1, 40)
        sketch = TraceSketch(
            chance=chance,
            begun_ns=at_ns,
            service=service,
            version="2026.11.1" if number < amount * 0.6 else "2026.11.2",
            session_id=f"s-{number // 4:05d}" if service == "support-agent" else "",
            user_id=f"user-{person:03d}",
            labels={"region": chance.choice(("eu", "us", "apac")), "channel": chance.choice(("web", "app", "mail"))},
        )
        wrong = chance.random() < 0.09
        write(sketch, goes_wrong=wrong)
        at_ns += int(chance.uniform(2, 50) * SECOND_NS)
        yield sketch, wrong


def _pair(key: str, value: Any) -> dict[str, Any]:
    match value:
        case bool():
            return {"key": key, "value": {"boolValue": value}}
        case int():
            return {"key": key, "value": {"intValue": str(value)}}
        case float():
            return {"key": key, "value": {"doubleValue": value}}
        case _:
            return {"key": key, "value": {"stringValue": str(value)}}
