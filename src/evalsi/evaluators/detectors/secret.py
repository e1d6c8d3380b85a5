"""Credentials: keys in the shape of a known provider, private key blocks, signed tokens, passwords in addresses, and
values that are assigned to a name such as `api_key` and look random.

A publishable key, a placeholder and a variable's name are no secrets. Values are judged by their characters, never
tried against a service.
"""

import base64
import binascii
import json
import math
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from evalsi.evaluators.detectors.finding import Finding
from evalsi.evaluators.detectors.surroundings import lower, occurrences


@dataclass(frozen=True)
class _Shape:
    """A provider's key: it begins with one of `starts`, and its whole text matches `pattern`."""

    detail: str
    starts: tuple[str, ...]
    pattern: re.Pattern[str]


def _shape(detail: str, starts: str, body: str) -> _Shape:
    return _Shape(detail, tuple(starts.split()), re.compile(rf"(?:{body})(?![A-Za-z0-9])"))


# Source: the providers' own documentation of their key formats.
_SHAPES = (
    _shape("anthropic-key", "sk-ant-", r"sk-ant-[A-Za-z0-9_-]{20,200}+"),
    _shape("openai-key", "sk-", r"sk-(?!ant-)[A-Za-z0-9_-]{20,250}+"),
    _shape("aws-access-key-id", "AKIA ASIA ABIA ACCA", r"A[KSBC][IC]A[A-Z0-9]{16}"),
    _shape("github-token", "ghp_ gho_ ghu_ ghs_ ghr_", r"gh[pousr]_[A-Za-z0-9]{36,255}+"),
    _shape("github-token", "github_pat_", r"github_pat_[A-Za-z0-9_]{22,255}+"),
    _shape("gitlab-token", "glpat- glptt- gldt- glrt- glcbt- glsoat-", r"gl[a-z]{2,4}-[A-Za-z0-9_.-]{20,300}"),
    _shape("slack-token", "xoxa- xoxb- xoxe- xoxp- xoxr- xoxs- xapp-", r"(?:xox[abeprs]|xapp)-[A-Za-z0-9-]{10,250}"),
    _shape("slack-webhook", "hooks.slack.com/", r"hooks\.slack\.com/(?:services|workflows)/[A-Za-z0-9/_-]{20,120}"),
    _shape("google-api-key", "AIza", r"AIza[A-Za-z0-9_-]{35}(?![_-])"),
    _shape("google-oauth-token", "ya29.", r"ya29\.[A-Za-z0-9_-]{20,300}+"),
    _shape("google-client-secret", "GOCSPX-", r"GOCSPX-[A-Za-z0-9_-]{28}"),
    _shape("stripe-key", "sk_live_ sk_test_ rk_live_ rk_test_", r"[sr]k_(?:live|test)_[A-Za-z0-9]{16,250}+"),
    _shape("webhook-secret", "whsec_", r"whsec_[A-Za-z0-9+/=]{24,128}"),
    _shape("twilio-key", "SK", r"SK[0-9a-f]{32}"),
    _shape("sendgrid-key", "SG.", r"SG\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}"),
    _shape("mailgun-key", "key-", r"key-[0-9a-f]{32}"),
    _shape("npm-token", "npm_", r"npm_[A-Za-z0-9]{36}"),
    _shape("pypi-token", "pypi-AgE", r"pypi-AgE[A-Za-z0-9_-]{50,400}+"),
    _shape("hugging-face-token", "hf_", r"hf_[A-Za-z0-9]{30,64}+"),
    _shape("docker-token", "dckr_pat_", r"dckr_pat_[A-Za-z0-9_-]{20,80}+"),
    _shape("digitalocean-token", "dop_v1_ doo_v1_ dor_v1_", r"do[opr]_v1_[0-9a-f]{64}"),
    _shape("databricks-token", "dapi", r"dapi[0-9a-f]{32}(?:-[0-9])?"),
    _shape("shopify-token", "shpat_ shpca_ shppa_ shpss_", r"shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}"),
    _shape("square-token", "sq0atp- sq0csp-", r"sq0(?:atp|csp)-[A-Za-z0-9_-]{22,43}+"),
    _shape("groq-key", "gsk_", r"gsk_[A-Za-z0-9]{40,64}+"),
    _shape("xai-key", "xai-", r"xai-[A-Za-z0-9]{60,100}+"),
    _shape("perplexity-key", "pplx-", r"pplx-[A-Za-z0-9]{40,64}+"),
    _shape("replicate-token", "r8_", r"r8_[A-Za-z0-9]{37}"),
    _shape("grafana-token", "glsa_", r"glsa_[A-Za-z0-9]{32}_[0-9A-Fa-f]{8}"),
    _shape("linear-key", "lin_api_", r"lin_api_[A-Za-z0-9]{32,64}+"),
    _shape("notion-token", "ntn_", r"ntn_[A-Za-z0-9]{40,60}+"),
    _shape("vault-token", "hvs.", r"hvs\.[A-Za-z0-9_-]{24,200}+"),
    _shape("doppler-token", "dp.pt.", r"dp\.pt\.[A-Za-z0-9]{40,44}"),
    _shape("new-relic-key", "NRAK-", r"NRAK-[A-Z0-9]{27}"),
    _shape("atlassian-token", "ATATT3", r"ATATT3[A-Za-z0-9_=-]{50,250}"),
    _shape("planetscale-token", "pscale_tkn_ pscale_pw_", r"pscale_(?:tkn|pw)_[A-Za-z0-9_.-]{32,64}"),
    _shape("supabase-key", "sbp_ sb_secret_", r"(?:sbp_[0-9a-f]{40}|sb_secret_[A-Za-z0-9_-]{20,60})"),
    _shape("age-key", "AGE-SECRET-KEY-1", r"AGE-SECRET-KEY-1[0-9A-Z]{58}"),
)
_TELEGRAM = re.compile(r"(?<![0-9A-Za-z_-])[0-9]{8,10}:AA[A-Za-z0-9_-]{33}(?![A-Za-z0-9_-])")
_TOKEN_CHARACTERS = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-")

_KEY_HEADER = re.compile(r"-----BEGIN (?:[A-Z0-9]{1,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----")
_KEY_END = re.compile(r"-----END (?:[A-Z0-9]{1,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----")
_KEY_BODY = re.compile(r"(?:[\sA-Za-z0-9+/=:,.-]|\\[nr]){0,16384}+")

_JWT = re.compile(r"(?<![A-Za-z0-9_.-])(eyJ[A-Za-z0-9_-]{8,4096}+)\.[A-Za-z0-9_-]{8,65536}+\.[A-Za-z0-9_-]{16,4096}+")
_URL_PASSWORD = re.compile(r"://[^\s:@/?#\"'<>]{0,64}+:(?P<value>[^\s@/\"'<>]{3,128}+)@(?=[\w\[])")
_HEADER = re.compile(r"(?i:(?<![a-z])(?:bearer|basic))[ ]{1,3}(?P<value>[A-Za-z0-9._~+/=-]{16,4096}+)")

_PASSWORD_WORDS = (
    *(
        "password",
        "passwd",
        "passphrase",
        "pwd",
        "passwort",
        "kennwort",
        "mot de passe",
        "contraseña",
        "senha",
        "hasło",
    ),
    *("пароль", "密码", "パスワード"),
)
_KEY_WORDS = ("key", "token", "secret", "credential")
_KEY_OWNERS = (
    *("api", "app", "auth", "access", "account", "secret", "private", "signing", "encryption", "master", "service"),
    *("shared", "storage", "license"),
)
_ASSIGNED = re.compile(
    r"s?[\"'`*_]{0,4}+(?:[ ]for[ ][A-Za-z0-9_.@-]{1,32}+)?"
    r"(?:[ \t]{0,4}(?::=|=>|[=:])|[ ](?:is|was|ist|lautet|est|es|è|é|to|是|は))[\"'`*_\s]{0,6}+"
    r"(?P<value>[^\s\"'`<>{}()\[\],;]{8,128}+)",
    re.IGNORECASE,
)
_DIGIT = re.compile(r"[0-9]")
_PLACEHOLDER_PARTS = (
    *("your", "example", "change", "placeholder", "dummy", "sample", "redacted", "insert", "todo", "xxx", "***", "..."),
    *(
        "•",
        "env.",
        "env[",
        "environ",
        "getenv",
        "secret.",
        "secrets.",
        "config.",
        "settings.",
        "vault:",
        "http:",
        "https:",
    ),
)
_PLACEHOLDER_STARTS = ("$", "%", "true", "false", "null", "none", "undefined", "string", "password", "required")


NEEDED = "|".join(
    [
        *(re.escape(start) for shape in _SHAPES for start in shape.starts),
        ":AA|eyJ|-----BEGIN|://[^/ ]*@|(?i:bearer|basic) ",
        f"(?i:{'|'.join((*_KEY_WORDS, *_PASSWORD_WORDS))})",
    ]
)
"""What a text must hold, as an RE2 expression, for a closer look to make sense."""


def detect_secrets(text: str) -> Iterator[Finding]:
    """Credentials in `text`; one credential may be yielded in more than one form."""
    yield from _detect_provider_keys(text)
    yield from _detect_private_keys(text)
    yield from _detect_tokens(text)
    yield from _detect_assignments(text)


def _detect_provider_keys(text: str) -> Iterator[Finding]:
    for shape in _SHAPES:
        for start in shape.starts:
            at = text.find(start)
            while at >= 0:
                match = None
                if at == 0 or text[at - 1] not in _TOKEN_CHARACTERS:
                    match = shape.pattern.match(text, at)
                if match and (shape.detail != "openai-key" or _is_key_rather_than_words(match[0])):
                    end = match.start() + len(match[0].rstrip("-_."))
                    yield Finding(type="SECRET", start=at, end=end, text=text[at:end], detail=shape.detail)
                at = text.find(start, match.end() if match else at + len(start))
    if ":AA" in text:
        for match in _TELEGRAM.finditer(text):
            yield Finding(
                type="SECRET", start=match.start(), end=match.end(), text=match[0], detail="telegram-bot-token"
            )


def _is_key_rather_than_words(value: str) -> bool:
    """`sk-learn-and-other-words` has the shape of a key; a key has a long run of letters that holds a digit."""
    return any(len(run) >= 12 and any(map(str.isdigit, run)) for run in re.split("[-_]", value))


def _detect_private_keys(text: str) -> Iterator[Finding]:
    free_from = 0
    for header in _KEY_HEADER.finditer(text):
        if header.start() < free_from:
            continue
        body = _KEY_BODY.match(text, header.end())
        assert body is not None
        closing = _KEY_END.search(text, header.end(), body.end() + 64)
        free_from = closing.end() if closing else body.end()
        block = text[header.start() : free_from].rstrip()
        if len(block) - len(header[0]) >= 32:
            yield Finding(
                type="SECRET",
                start=header.start(),
                end=header.start() + len(block),
                text=block,
                detail="private-key",
            )


def _detect_tokens(text: str) -> Iterator[Finding]:
    if "eyJ" in text:
        for match in _JWT.finditer(text):
            if _is_jose_header(match[1]):
                yield Finding(type="SECRET", start=match.start(), end=match.end(), text=match[0], detail="jwt")
    if "://" in text:
        for match in _URL_PASSWORD.finditer(text):
            if not _is_placeholder(match["value"]):
                yield _valued(match, "url-password")
    for match in _HEADER.finditer(text):
        if not _is_placeholder(match["value"]) and looks_random(match["value"]):
            yield _valued(match, "authorization-header")


def _is_jose_header(encoded: str) -> bool:
    try:
        header = json.loads(base64.urlsafe_b64decode(encoded + "=" * (-len(encoded) % 4)))
    except (binascii.Error, ValueError, RecursionError):
        return False
    return isinstance(header, dict) and ("alg" in header or "enc" in header)


def _detect_assignments(text: str) -> Iterator[Finding]:
    lowered = lower(text)
    for words in (_KEY_WORDS, _PASSWORD_WORDS):
        seen_to = 0
        for at, word in sorted(occurrences(lowered, words)):
            is_password = words is _PASSWORD_WORDS
            if at < seen_to or not (is_password or _names_a_key(text, lowered, at, word)):
                continue
            match = _ASSIGNED.match(text, at + len(word))
            if match is None:
                continue
            seen_to = match.start("value")
            value = match["value"].rstrip(".!?:*_\\")
            if len(value) < 8 or not (looks_random(value) or (is_password and _is_strong_password(value))):
                continue
            if not _is_placeholder(value):
                seen_to = match.end()
                yield Finding(
                    type="SECRET",
                    start=match.start("value"),
                    end=match.start("value") + len(value),
                    text=value,
                    detail="assignment",
                )


def _names_a_key(text: str, lowered: str, at: int, word: str) -> bool:
    """Whether the word at `at` ends the name of a credential: `api_key`, `accessToken`, "client secret", no "monkey"."""
    if word == "key":
        return lowered[max(0, at - 12) : at].rstrip(" _-").endswith(_KEY_OWNERS)
    return at == 0 or not text[at - 1].isalpha() or (text[at].isupper() and text[at - 1].islower())


def _valued(match: re.Match[str], detail: str) -> Finding:
    start, end = match.span("value")
    return Finding(type="SECRET", start=start, end=end, text=match["value"], detail=detail)


def looks_random(value: str) -> bool:
    """Whether `value` reads as a key: a run of 16 or more characters that mixes digits with letters and hardly repeats.

    The measure is Shannon's entropy of its characters, at least 3 bits, or 2.5 for hexadecimal digits.
    """
    runs = re.findall(r"[A-Za-z0-9+/]{12,}", value)
    if len(value) < 16 or not runs:
        return False
    mixed = _DIGIT.search(value) is not None and any(map(str.isalpha, value))
    hexadecimal = re.fullmatch(r"[0-9a-fA-F-]+", value) is not None
    return mixed and entropy_bits(value) >= (2.5 if hexadecimal else 3.0)


def entropy_bits(value: str) -> float:
    """Shannon's entropy of the characters of `value`, in bits for each character. Source: Shannon (1948), section 6."""
    return -sum(count / len(value) * math.log2(count / len(value)) for count in Counter(value).values())


def _is_strong_password(value: str) -> bool:
    """Three of four classes: lower case, upper case, digit, other."""
    kinds = (value != value.upper(), value != value.lower(), _DIGIT.search(value) is not None, not value.isalnum())
    return sum(kinds) >= 3


def _is_placeholder(value: str) -> bool:
    lowered = value.lower()
    return (
        lowered.startswith(_PLACEHOLDER_STARTS)
        or any(part in lowered for part in _PLACEHOLDER_PARTS)
        or len(set(lowered)) < 4
    )
