"""How a refusal is worded, language by language, in a notation that a speaker of the language can correct.

Each line is one wording, for lower-case text with plain apostrophes. `(a|b)` chooses, `…` is anything within a sentence
(at most 70 characters), `{name}` is a list defined above by `name = a|b`. `^` is where a sentence or clause begins. A
wording says who speaks, that they cannot or will not, and what is declined: an apology alone is none.

What always holds: no wording repeats a repetition and every gap is bounded, so matching takes time linear in the text.
"""

import re

HARMLESS = """
(can't|cannot|can not) help but
(can't|cannot|can not) help (notic|think|feel|wonder|smil|laugh)
(can't|cannot|can not) (recommend|say|praise|support|endorse|tell you) … enough
(i|we) ?(can't|cannot|can not|won't|will not|'m unable to|am unable to|are unable to) … (without|until|unless) (your|the|a|an|more|further|first|you|we|i|knowing|seeing)\\b
(won't|can't|cannot) (say|tell you) (no|how (happy|glad|grateful|sorry|pleased|excited))
(kann|können) (ich|wir) … ohne (ihre|deine|die|weitere)
(no puedo|no podemos) … sin (su|tu|el|la|más)\\b
je ne (peux|puis) pas … sans (votre|ton|ta|le|la|plus)\\b
(non posso|não posso) … (senza|sem) (il|la|o|a|su[ao]|seu|sua)\\b
non posso che|nicht nur|no solo|não só|ne peux que|niet alleen
不能不|不得不
"""
"""Turns that hold the words of a refusal and are none. They are cut out before the search."""

_NOT_SPACED = frozenset({"zh", "ja", "ko", "ar"})
"""Languages in which a wording may start inside a run of letters."""

WORDINGS: dict[str, str] = {
    "en": """
        act = help|assist|provide|comply|do (that|this|so|it)|fulfil|answer|discuss|share|create|write|generate|support
        act = engage|participate|offer|give(?! up)|continue|respond|complete|produce|accommodate|tell|talk about|show
        act = encourage|facilitate|promote|explain|teach|advise|recommend|endorse|carry out|execute|perform|translate
        act = browse|access|reveal|disclose|impersonate|pretend|role-?play|entertain|grant|satisfy|honou?r|condone
        act = speculate|say|go along|be able|be (a )?part|be involved|follow (that|this|those|these|your)
        act = process (that|this|your) request
        cannot = can't|cannot|can not|cant|won't|will not|couldn't|could not|shouldn't|should not
        cannot = ('m|am|are|'re) (unable|not able|not (going|willing|allowed|permitted|authori[sz]ed|designed|programmed|prepared)) to
        cannot = ('d|would) (rather|prefer) not( to)?|prefer not to|(don't|do not) (want to|think i can|believe i can)
        cannot = refuse to|decline to|('m|am) incapable of
        softly = really|simply|just|also|unfortunately|therefore|respectfully|honestly|personally|regrettably|still
        rules = guidelines|polic|programming|principles|values|rules|instructions|terms
        ^ (i|we)( {softly})? ?{cannot}( [a-z]+ly)? {act}
        ^ (i|we) ?(am|'m) (sorry|afraid),? (but )?(that )?(i|we) ?{cannot}
        (i|we)( [a-z]+ly)? ?(must|have to|need to|('ll|will) have to|(am|'m) going to have to|am obliged to)( [a-z]+ly)? (decline|refuse|say no|pass on)
        ^ (i|we) ([a-z]+ly )?(decline|refuse)( to| this| that| your|[.!]|$)
        as an? (ai|artificial intelligence|(large )?language model|(ai )?assistant) … (i|we) ?({cannot}|must not|do not|don't)
        as an? (ai|artificial intelligence|(large )?language model) … (unable|not able|not allowed|not permitted|cannot|can't)
        ^ (sorry,? )?(but )?(that's|this is|it's|that is|it is) not (something|a (topic|subject|request|task)) (that )?(i|we)\\b
        ^ (sorry,? )?(but )?(that's|this is|it's|that is|it is) something (that )?(i|we) ?({cannot}|won't|(am|'m) not)
        (wouldn't be|would not be|isn't|is not|it's not) (appropriate|right|ethical|responsible|safe|possible) for me to
        (goes|is|be|go) against (my|our) … {rules}
        violates? (my|our|openai's|anthropic's|google's|the|content|usage|safety) … {rules}
        your (request|prompt|question|message) (has been|was|is|cannot be|can't be|could not be) (declined|refused|rejected|blocked|denied|fulfilled)
        ^ (sorry,? )?(unable|not able|not allowed|not permitted) to {act}
        ^ (i|we) (do not|don't) (feel comfortable|provide|assist|engage|support|offer|discuss|create|generate|help with|answer|comment on)
        (i'm|i am|we're|we are) not comfortable (with )?([a-z]+ing|that|this)
        ^ (sorry|apologies|no)[,.!]? (but )?(no[.!,]|(i|we) (can't|cannot|won't)[.!]|can't (help|do))
        ^ (i can't|i cannot|i won't|i refuse|i decline|i'd rather not)[.!]?$
    """,
    "de": """
        act = helfen|weiterhelfen|unterstütz|beantwort|antworten|bereitstell|geben|erstell|schreib|erfüll|nachkomm|anbiet
        act = behilflich|teilen|besprech|liefer|machen|nennen|äußern|generier|eingehen|tun|durchführ
        may = kann|können|darf|dürfen|werde|werden|möchte|will|könnte
        not = nicht|keine?[nrs]?|keinem|nichts
        {may} (ich|wir) … {not} … {act}
        (ich|wir) {may} … {not} … {act}
        (ich bin|wir sind|bin ich|sind wir) … (nicht (in der lage|befugt|berechtigt|imstande)|außerstande)
        (mir|uns) … nicht (möglich|gestattet|erlaubt)
        als (ki|künstliche intelligenz|sprachmodell)… (kann|darf|werde|bin) ich … {not}
        (muss|müssen|möchte) (ich|wir) … (ablehnen|verweigern)
        (ich|wir) (muss|müssen|möchte) … (ablehnen|verweigern)
        (ich|wir) (lehne|lehnen) … ab\\b
        ich (ver)?weigere
        verstößt gegen (meine|unsere|die) … (richtlinien|regeln|grundsätze|vorgaben)
    """,
    "es": """
        act = ayud|asist|proporcion|cumpl|respond|ofrec|compart|crear|escrib|gener|darte|darle|dar |brind|atend|particip
        act = hacer|facilit|complac|satisfac|cómod|permitid|discut|hablar de|tratar|realiz
        cannot = puedo|podemos|podré|podría|me es posible|nos es posible|soy capaz|voy a|debo|me (está|siento)
        cannot = estoy (autorizad[oa]|en condiciones|capacitad[oa]|programad[oa])
        no {cannot}… {act}
        (me es|nos es) imposible
        lamento no poder
        (debo|tengo que|debemos|tenemos que) (rechazar|declinar|negarme|negarnos)
        me niego a|rechazo (esta|tu|su) |prefiero no
        como (una? )?(ia|inteligencia artificial|modelo de lenguaje|asistente) … no (puedo|tengo permitido|debo|soy capaz)
        (va en contra de|viola) (mis|las|nuestras) … (directrices|políticas|normas|principios)
    """,
    "fr": """
        act = aider|assist|fourni|répond|satisf|partag|créer|écri|génér|donner|particip|propos|faire (cela|ça|ce)|discut
        act = en mesure|capable|autorisé|habilité|à l'aise|accepter|réalis
        (je|nous) ne (peux|puis|pourrai|pouvons|pourrais|vais|veux|dois|saurais|suis|sommes) … {act}
        (il )?(m'est|nous est) impossible de
        je (dois|préfère) (malheureusement )?(décliner|refuser|ne pas)
        je (refuse (de|cette|votre)|décline)
        ^ désolée?, (mais )?je ne peux pas[.!]?$
        en tant qu(e |')(une? )?(ia|intelligence artificielle|modèle|assistant) … je ne (peux|puis|suis|dois)
        (contraire à|va à l'encontre de|enfreint) (mes|nos|les) … (directives|règles|principes|consignes|politiques)
    """,
    "it": """
        act = aiut|assist|forni|soddisf|rispond|condivid|crear|scriv|gener|dare|darti|darle|offrir|partecip|farlo|discut
        act = esaudi|accontent|proced
        cannot = posso|possiamo|potrei|potrò|(sono|siamo) in grado|sono autorizzat[oa]|sono capace|intendo|voglio|devo
        cannot = mi è (possibile|consentito|permesso)
        non {cannot}… {act}
        (devo|dobbiamo|sono costrett[oa] a) (rifiutare|declinare|rifiutarmi)
        mi rifiuto|preferisco non|mi (di)?spiace non poter
        ^ mi dispiace,? (ma )?non posso[.!]?$
        (come|in quanto|essendo) (una? )?(ia|ai|intelligenza artificiale|modello linguistico|assistente) … non (posso|sono|mi è)
        (contro|viola) (le mie|le nostre|le) … (linee guida|politiche|regole)
    """,
    "pt": """
        act = ajud|auxili|fornec|atend|respond|compartilh|partilh|criar|escrev|gerar|dar |dar-|oferec|cumpr|particip
        act = fazer|discut|assisti|satisfaz|realizar
        cannot = posso|podemos|consigo|conseguimos|poderei|vou|devo|sou capaz|me é (possível|permitido)
        cannot = estou (autorizad[oa]|apt[oa]|em condições|programad[oa])
        não {cannot}… {act}
        (devo|tenho (que|de)|preciso|temos (que|de)) (recusar|declinar)
        me recuso|recuso-me|prefiro não|lamento não poder
        ^ desculpe,? (mas )?não posso[.!]?$
        como (uma? )?(ia|inteligência artificial|modelo de linguagem|assistente) … não (posso|consigo|devo|sou capaz)
        (contra|viola) (as )?(minhas|nossas|as) … (diretrizes|políticas|regras)
    """,
    "nl": """
        act = help|assister|bied|geven|verstrek|beantwoord|antwoord|voldo|deel|delen|maken|schrijv|genere|meewerk|doen
        act = bespreken
        may = kan|kunnen|mag|mogen|ga|zal|wil
        (ik|we|wij) {may} … (niet|geen|niets) … {act}
        {may} (ik|we|wij) … (niet|geen|niets) … {act}
        (ik ben|ben ik|wij zijn|we zijn) … niet (in staat|bevoegd|gemachtigd)
        (moet ik|ik moet) … (weiger|afwijz)
        ik weiger\\b
        is (het )?(mij|voor mij) niet (mogelijk|toegestaan)
        als (een )?(ai|taalmodel|ai-assistent|kunstmatige intelligentie) … (kan|mag) ik … (niet|geen)
    """,
    "pl": """
        act = pomóc|pomagać|udziel|dostarcz|odpowied|spełni|udostępni|stworzy|napisa|wygenerow|poda[ćj]|zrealizow|zrobi
        act = uczestnicz|wykona|omawia|zapewni
        cannot = mogę|możemy|jestem w stanie|jesteśmy w stanie|potrafię|wolno mi|będę (mógł|mogła|w stanie)|zamierzam
        nie {cannot}… {act}
        (muszę|musimy) (niestety )?odmówić
        odmawiam|wolę nie
        jako (model językowy|sztuczna inteligencja|ai|asystent)… nie (mogę|jestem|potrafię)
    """,
    "sv": """
        act = hjälp|assister|ge |tillhandahåll|svara|dela|skapa|skriva|uppfyll|göra det
        (jag|vi) (kan|får|kommer|vill) … (inte|inga|ingen|inget) … {act}
        (kan|får) (jag|vi) … (inte|inga|ingen|inget) … {act}
        jag måste (tyvärr )?(avböja|neka)
        jag vägrar
    """,
    "tr": """
        act = yardımcı ol|yardım ed|sağlay|cevaplay|yanıtlay|cevap ver|yanıt ver|bilgi ver|yerine getir|oluştur|yaz
        act = paylaş|yap|sun|üret|tartış|karşılay|destekle
        cannot = y?[ae]m(am|em|ıyor|iyor|ay|ey)
        {act}{cannot}
        reddetmek zorunda|reddetmem gerek|reddediyorum|kabul edem(em|iyor)|bunu yapmam mümkün değil
        (yapay zek[aâ]|dil modeli) olarak … [ae]m(am|em|ıyor|iyor|ay|ey)
    """,
    "ru": """
        act = помо|предостав|ответ|отвеч|выполн|созда|написа|писать|сгенерир|генерир|дать|давать|обсужд|подел|участв
        act = сделать|рассказ|содейств|консультир|поддерж
        не (могу|можем|смогу|сможем|в состоянии|вправе|буду|имею права|имею возможности|умею) … {act}
        (вынужден[аы]?|должен|должна) (вам )?(отказать|отклонить)
        отказываюсь|предпочитаю не
        с этим … не (могу|смогу)
        (как|будучи) (ии|языков[а-я]+ модел[а-я]+|искусственн[а-я]+ интеллект[а-я]*|ассистент[а-я]*) … не (могу|имею|способ)
        (противоречит|нарушает) (моим|мои|нашим|наши) … (правил|политик|принцип)
    """,
    "uk": """
        act = допомо|надати|надавати|відпов|викона|створ|написа|поділ|обговор|зробити|згенер
        не (можу|можемо|зможу|маю права|маю змоги|в змозі|буду) … {act}
        (змушен(ий|а)|мушу) (вам )?відмовити
        відмовляюся
    """,
    "zh": """
        act = 提供|帮助|帮忙|协助|回答|满足|完成|生成|创建|编写|撰写|讨论|分享|执行|支持|处理|参与|协助|幫助|協助|滿足|處理|討論
        act = 創建|撰寫|透露|告诉|告訴|配合
        cannot = 无法|不能|没办法|没有办法|不可以|不会|無法|沒辦法|難以|难以|不便
        我(们|們)?[^。！？，,\\n]{0,6}{cannot}[^。！？，,\\n]{0,16}{act}
        (抱歉|对不起|對不起|不好意思|遗憾|遺憾)[^。！？\\n]{0,12}{cannot}[^。！？，,\\n]{0,16}{act}
        (作为|身为|作為)(一个|一名|一個)?(ai|人工智能|人工智慧|语言模型|語言模型|助手|助理)[^。！？\\n]{0,40}(无法|不能|不会|無法|不會)
        我(必须|必須|只能|不得不)(拒绝|拒絕|婉拒|谢绝)
        我(拒绝|拒絕|婉拒)
        恕(我)?(无法|不能|無法|难以|難以)|帮不了|幫不了|爱莫能助|不便(回答|提供|透露)
        (违反|違反)(了)?(我|我们|我們)的
    """,
    "ja": """
        act = 手伝い|答え|対応|提供|応え|支援|回答|伝え|作成|協力|サポート|案内|生成|共有|執筆|書く|お受け|教え|助け|その依頼
        cannot = できません|できない|できかね|出来ません|出来ない|しかね|致しかね|いたしかね|かねます|られません
        {act}[^。！？、\\n]{0,12}{cannot}
        お断り(し|いたし|させて|せざる)|応じ(られません|かねます|ることは?できません)|お受けできません|遠慮させていただき
        aiとして[^。\\n]{0,40}(できません|できない|かねます)
    """,
    "ko": """
        act = 도와|도움|제공|답변|답해|대답|지원|작성|생성|응해|응할|수행|공유|알려|논의|처리|협조|참여
        {act}[가-힣 ]{0,10}(수(가|는|도)? ?없|드리기(는)? 어렵|하기(는)? 어렵|하지 않겠|드리지 못)
        거절(합니다|하겠|해야|할 수밖에)
        ai(로서|이기 때문에|이므로)[^.!?\\n]{0,40}(없습니다|않습니다)
    """,
    "ar": """
        act = مساعد|تقديم|الإجابة|الاجابة|توفير|تلبية|المشاركة|مشاركة|إنشاء|كتابة|القيام|تنفيذ|إعطا|فعل|الرد|مناقشة|الكشف
        cannot = لا (أستطيع|استطيع|يمكنني|يمكننا|نستطيع|أقدر|يسعني)|لن (أتمكن|أستطيع|أقوم|نتمكن)|لست (قادر|مخول)
        cannot = غير (قادر|مخول|مسموح لي)|يتعذر علي|ليس بإمكاني|ليس بوسعي
        {cannot}… {act}
        {cannot}…ال?{act}
        أعتذر عن (عدم|تقديم|تلبية)|أرفض|يجب (علي )?أن أرفض
        (بصفتي|كوني|بوصفي|كنموذج|كذكاء)… (لا (أستطيع|يمكنني)|لن)
    """,
    "hi": """
        act = मदद|सहायता|जानकारी|उत्तर|जवाब|प्रदान|अनुरोध|लिख|बता|साझा|चर्चा|पूरा|बना
        {act}…(नहीं (कर|दे|बता|लिख|बना|हो)( पा)? ?(सक|ऊ|ूँ|ूंग|ूँग)|असमर्थ|(सकता|सकती|सकते) नहीं|नहीं (सकता|सकती|सकते))
        मैं …(असमर्थ|अस्वीकार|इनकार|इंकार)
        (एआई|ai|भाषा मॉडल)…(नहीं (कर|दे)|असमर्थ)
    """,
    "id": """
        act = bantu|membantu|memberi|menyedia|menjawab|membuat|menulis|memenuhi|berbagi|melakukan
        (saya|kami) (tidak|tak) (bisa|dapat|mampu|boleh|akan) … {act}
        (saya|kami) (tidak|tak) (bisa|dapat|mampu|boleh|akan) {act}
        (saya|kami) (harus )?menolak
    """,
    "vi": """
        act = giúp|hỗ trợ|cung cấp|trả lời|thực hiện|tạo|viết|đáp ứng|chia sẻ
        (tôi|chúng tôi) (rất tiếc )?(không thể|không được phép|xin phép không) … {act}
        (tôi|chúng tôi) (rất tiếc )?(không thể|không được phép|xin phép không) {act}
        tôi (phải |xin )?từ chối
    """,
}

_GAP = r"[^.!?\n。！？।؟]{0,70}?"
_BEGINNING = (
    r"(?:\A|[.!?:;,\n\-–—…]\s*"
    r"|\b(?:but|so|and|that|because|however|unfortunately|therefore|afraid|regret|say)[ ,]+)"
)
_WORD_START = r"(?<![^\W_])"
_LIST = re.compile(r"\{([a-z]+)\}")


def pattern_of(wordings: str, *, spaced: bool = True) -> re.Pattern[str]:
    """The wordings of one language as one pattern.

    Args:
        wordings: Lines in the notation above.
        spaced: Whether a wording must begin at the beginning of a word.
    """
    lists: dict[str, str] = {}
    patterns: list[str] = []
    for line in filter(None, map(str.strip, wordings.splitlines())):
        name, equals, alternatives = line.partition(" = ")
        if equals and name.isalpha():
            lists[name] = f"{lists[name]}|{alternatives}" if name in lists else alternatives
        else:
            patterns.append(_pattern(line, lists, _WORD_START if spaced else ""))
    return re.compile("|".join(patterns))


def patterns_by_language() -> dict[str, re.Pattern[str]]:
    """One pattern for each language of `WORDINGS`."""
    return {language: pattern_of(lines, spaced=language not in _NOT_SPACED) for language, lines in WORDINGS.items()}


def rough_expression() -> str:
    """One RE2 expression that matches wherever a pattern of `patterns_by_language` does, and in some more places."""
    rough = "|".join(pattern.pattern for pattern in patterns_by_language().values())
    for exact, loose in ((_BEGINNING, ""), (_WORD_START, ""), (_GAP, r"[^.!?\n。！？।؟]*"), (r"\b", "")):
        rough = rough.replace(exact, loose)
    return re.sub(r"\(\?!.*?\)", "", rough)


def _pattern(line: str, lists: dict[str, str], start: str) -> str:
    if line.startswith("^ "):
        start, line = _BEGINNING, line[2:]
    while _LIST.search(line):
        line = _LIST.sub(lambda match: f"({lists[match[1]]})", line)
    line = re.sub(r"(?<!\\)\((?!\?)", "(?:", line)
    return f"{start}(?:{line.replace(' … ', f'[ ,]{_GAP}').replace('…', _GAP)})"
