"""A body taken apart by project and trace, whatever its encoding and signal, with what may not be kept taken out.

Its own module because it is all that is done to a body before anybody asks where it may go. Pure; any thread may call.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import msgspec

from evalsi.schema import Feedback
from evalsi.server.otlp.reply import Encoding, Signal
from evalsi.traces.crowded_request import COUNTED_FROM_BYTES, MOST_SPANS, check_crowd
from evalsi.traces.log_event import (
    EVALUATION_EVENT,
    MESSAGE_EVENTS,
    OWN_SCORE,
    LogEvent,
    feedback_of,
    span_of_event,
)
from evalsi.traces.trace_parts import (
    PROJECT_ATTRIBUTE,
    PartLimits,
    Rejections,
    ResourceParts,
    SplitRequest,
    parts_of_request,
)
from evalsi.watch.redaction_rules import RedactionRules

JSON_WEIGHT = 4
"""Bytes of JSON, and of whatever is read span by span, take about four times their size in memory while they are read."""


@dataclass(frozen=True, kw_only=True)
class BodyReader:
    """Reads bodies as a server's settings say."""

    limits: Callable[[str], PartLimits]
    """How much is taken for a project."""
    rules: RedactionRules
    """What is taken out before anything is stored; empty for nothing, which then costs nothing."""
    most_spans: int
    """Of one request, for whichever project."""

    def weight_of(self, encoding: Encoding, signal: Signal) -> int:
        """How much memory a byte of a body takes; 1 for what is not read span by span, and therefore quickly."""
        return JSON_WEIGHT if encoding == "json" or signal == "logs" or self.rules else 1

    def read(
        self, body: bytes, encoding: Encoding, signal: Signal, project: str, labels: Mapping[str, str]
    ) -> SplitRequest:
        """What stands in a body.

        Args:
            project: Of what names none; its limits hold for the request.
            labels: Of whoever sent it.

        Raises: InvalidDataError: it is no OTLP, or of more pieces than anybody sends at once.
        """
        if encoding != "json" and len(body) > COUNTED_FROM_BYTES:
            check_crowd(body, max(MOST_SPANS, self.most_spans))
        if signal == "logs":
            return self._logs(body, encoding, self.limits(project), labels)
        if encoding == "json" or self.rules:
            return self._spans(body, encoding, self.limits(project), labels)
        return parts_of_request(body, self.limits(project), labels, self.limits)

    def _spans(self, body: bytes, encoding: Encoding, limits: PartLimits, labels: Mapping[str, str]) -> SplitRequest:
        from evalsi.traces import decode_otlp_json, decode_otlp_protobuf
        from evalsi.traces.otlp_writing import encode_otlp_protobuf

        decoded = decode_otlp_json(body) if encoding == "json" else decode_otlp_protobuf(body)
        spans = decoded.spans
        if self.rules:
            from evalsi.watch.redaction import redact_spans

            spans = redact_spans(spans, self.rules)
        split = parts_of_request(encode_otlp_protobuf(spans), limits, labels, self.limits)
        if decoded.rejected:
            first = decoded.rejected[0]
            split.rejections.counts["invalid_id"] += len(decoded.rejected)
            split.rejections.example = f"{first.where}: {first.reason}"
        return split

    def _logs(self, body: bytes, encoding: Encoding, limits: PartLimits, labels: Mapping[str, str]) -> SplitRequest:
        from evalsi.traces.otlp_json import decode_otlp_logs_json
        from evalsi.traces.otlp_protobuf import decode_otlp_logs_protobuf
        from evalsi.traces.otlp_writing import encode_otlp_protobuf

        decode = decode_otlp_logs_json if encoding == "json" else decode_otlp_logs_protobuf
        decoded = decode(body, self.most_spans)
        # Before redaction, which may leave out what tells our own scores: they would come round for ever.
        events = self._clean([event for event in decoded.events if OWN_SCORE not in event.attributes])
        said = [span_of_event(event) for event in events if event.name in MESSAGE_EVENTS]
        split = parts_of_request(encode_otlp_protobuf(said), limits, labels, self.limits)
        judged = self._judged(events, limits, split.rejections)
        if decoded.left_out:
            split.rejections.counts["no_event"] += decoded.left_out
        more = [ResourceParts(project=project, parts=[], judged=found) for project, found in judged.items()]
        return SplitRequest(resources=[*split.resources, *more], rejections=split.rejections)

    def _clean(self, events: list[LogEvent]) -> list[LogEvent]:
        if not self.rules:
            return events
        from evalsi.watch.redaction import redact_spans

        clean = redact_spans([span_of_event(event) for event in events], self.rules)
        return [
            msgspec.structs.replace(event, attributes=span.events[0].attributes, resource=span.resource)
            for event, span in zip(events, clean, strict=True)
        ]

    def _judged(self, events: list[LogEvent], limits: PartLimits, rejections: Rejections) -> dict[str, list[Feedback]]:
        """What events say of quality, by the project that they name."""
        judged: dict[str, list[Feedback]] = {}
        for event in events:
            if event.name == EVALUATION_EVENT and (found := feedback_of(event)) is not None:
                project = str(event.resource.get(PROJECT_ATTRIBUTE) or "")
                most = (self.limits(project) if project else limits).most_spans
                if len(judged.setdefault(project, [])) < most:
                    judged[project].append(found)
                else:
                    rejections.add("request_full", f"a request has at most {most:,} events that judge")
        return judged
