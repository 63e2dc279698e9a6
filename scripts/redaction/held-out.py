"""Writes held-out.jsonl: utterances whose numbers, addresses and spoken forms come from other hands than the engine's.

Faker (MIT) makes the numbers in the formats of its locales, num2words (LGPL, used as a tool) and inflect (MIT) say them. Only the
sentences around them are written here. Run with both installed: python scripts/redaction/held-out.py. The same each time.
"""
import json
import pathlib
import random

import inflect
from faker import Faker
from num2words import num2words

SEED = 20_260_401
random.seed(SEED)
Faker.seed(SEED)
US, GB, CA, DE, FR, ES, IT, BR, NL = (
    Faker(locale) for locale in ("en_US", "en_GB", "en_CA", "de_DE", "fr_FR", "es_ES", "it_IT", "pt_BR", "nl_NL")
)
words = inflect.engine()
samples: list[dict] = []


def add(template: str, kind: str | None = None, value: str = "") -> None:
    """The value replaces {} and is what is to be redacted; without a kind nothing is."""
    at = template.find("{}")
    text = template.replace("{}", value)
    spans = [] if kind is None else [{"class": kind, "from": at, "to": at + len(value)}]
    samples.append({"text": text, "spans": spans})


def digits_of(text: str) -> str:
    return "".join(letter for letter in text if letter.isdigit())


def said(text: str, lang: str = "en") -> str:
    return " ".join(num2words(int(digit), lang=lang) for digit in digits_of(text))


def said_by(text: str, group: int) -> str:
    """As inflect says numbers in groups of one or two: "forty-one, eleven"."""
    return words.number_to_words(digits_of(text), group=group, zero=random.choice(("zero", "oh")))


def grouped(text: str, *sizes: int, mark: str = " ") -> str:
    digits, groups, at = digits_of(text), [], 0
    for index in range(100):
        if at >= len(digits):
            break
        size = sizes[index % len(sizes)]
        groups.append(digits[at : at + size])
        at += size
    return mark.join(groups)


CARD_SENTENCES = (
    "Sure, the card is {}.",
    "You can charge it to {} please",
    "my visa number is {} and it should still be valid",
    "okay let me read it out, {}, did you get that?",
    "I'd like to pay by credit card: {}",
    "the long number across the front says {}",
    "Please update my account to card {} instead.",
)
NETWORKS = ("visa16", "mastercard", "amex", "discover", "diners", "jcb16", "maestro")


def cards() -> None:
    for index in range(48):
        network = NETWORKS[index % len(NETWORKS)]
        number = US.credit_card_number(card_type=network)
        if network == "maestro":
            sentences = CARD_SENTENCES[:1] + CARD_SENTENCES[4:5]
        else:
            sentences = CARD_SENTENCES
        sentence = sentences[index % len(sentences)]
        sizes = (4, 6, 5) if len(number) == 15 else (4, 6, 4) if len(number) == 14 else (4,)
        how = index % 8
        value = (
            number
            if how == 0
            else grouped(number, *sizes)
            if how in (1, 2)
            else grouped(number, *sizes, mark="-")
            if how == 3
            else said(number)
            if how in (4, 5)
            else said_by(number, 1)
            if how == 6
            else said_by(number, 2)
        )
        add(sentence, "card", value)
    for lang, sentence in (
        ("de", "Die Kartennummer lautet {}"),
        ("fr", "le numéro de ma carte est {}"),
        ("es", "el número de la tarjeta es {}"),
    ):
        for network in ("visa16", "mastercard"):
            add(sentence, "card", said(US.credit_card_number(card_type=network), lang))


def ibans() -> None:
    for index, fake in enumerate((DE, GB, FR, ES, IT, NL) * 4):
        number = fake.iban()
        value = number if index % 2 == 0 else " ".join(number[at : at + 4] for at in range(0, len(number), 4))
        add(("The IBAN is {}.", "send it to {} by Friday", "überweisen Sie auf {} bitte")[index % 3], "iban", value)


PHONE_SENTENCES = (
    "You can call me at {}.",
    "my phone number is {}",
    "reach me on {} after five",
    "the best mobile for her would be {}, thanks",
)


def phones() -> None:
    for index in range(20):
        add(PHONE_SENTENCES[index % 4], "phone", US.numerify(("(###) ###-####", "###-###-####", "###.###.####", "+1-###-###-####", "##########")[index % 5].replace("#", "%", 1)))
    for index, fake in enumerate((GB, DE, FR, ES, IT, NL) * 3):
        add(PHONE_SENTENCES[index % 4], "phone", fake.phone_number())
    for index in range(12):
        number = US.numerify("%##%######")
        value = said(number) if index % 3 else said_by(number, 2)
        add(PHONE_SENTENCES[index % 4], "phone", value)


def emails() -> None:
    mails = [fake.email() for fake in (US, GB, DE, FR, ES, IT, BR) for _ in range(4)]
    for index, mail in enumerate(mails):
        add(("write to {}", "My email is {}.", "it's {} if you need it", "{} is what I signed up with")[index % 4], "email", mail)
    for index in range(16):
        mail = US.free_email()
        value = mail.replace("@", " at ").replace(".", " dot ").replace("_", " underscore ")
        add(("my email is {}", "you can write to {} any time", "the address is {} okay")[index % 3], "email", value)


def national_ids() -> None:
    for index in range(8):
        add(("my social security number is {}", "SSN {}", "the last form had {} on it as the social")[index % 3] if index % 3 != 2 else "the social security number reads {}", "national_id", US.ssn())
    for _ in range(4):
        add("my national insurance number is {}", "national_id", GB.ssn())
        add("mi DNI es {}", "national_id", ES.nif())
        add("il mio codice fiscale è {}", "national_id", IT.ssn())
        add("meu CPF é {}", "national_id", BR.cpf())
        add("mon numéro de sécurité sociale est {}", "national_id", FR.ssn())
    for index in range(6):
        number = US.ssn()
        add("my social security number is {}", "national_id", said(number) if index % 2 else said_by(number, 1))


def births() -> None:
    formats = ("%m/%d/%Y", "%d.%m.%Y", "%Y-%m-%d", "%B %d, %Y", "%d %B %Y", "%b %d %Y")
    sentences = ("I was born on {}.", "date of birth {}", "her birthday is {}", "DOB: {}")
    for index in range(18):
        day = US.date_of_birth(minimum_age=18, maximum_age=90)
        add(sentences[index % 4], "date_of_birth", day.strftime(formats[index % 6]))
    for index in range(10):
        day = US.date_of_birth(minimum_age=18, maximum_age=90)
        ordinal = num2words(day.day, to="ordinal")
        year = num2words(day.year, to="year")
        value = f"{day.strftime('%B')} {ordinal} {year}" if index % 2 else f"{ordinal} of {day.strftime('%B')} {year}"
        add(("I was born on {}", "her date of birth is the {}")[index % 2] if index % 2 == 0 else "I was born on {}", "date_of_birth", value)


def near_misses() -> None:
    makers = (
        lambda: f"Your order {US.numerify('%###########')} has shipped.",
        lambda: f"The tracking code is {US.bothify('1Z###?##??########').upper()}.",
        lambda: f"the ISBN is {US.isbn13()}",
        lambda: f"scan the barcode {US.ean13()} please",
        lambda: f"that comes to {US.numerify('%,###.##')} dollars",
        lambda: f"we meet on {US.date_this_year().strftime('%B %d, %Y')} at {random.randint(1, 12)} o'clock",
        lambda: f"invoice {US.numerify('INV-%#######')} is due on {US.date_this_year().isoformat()}",
        lambda: f"the server is at {US.ipv4()}",
        lambda: f"the population was {num2words(random.randint(100_000, 9_000_000))}",
        lambda: f"it happened in {num2words(random.randint(1_900, 2_020), to='year')}",
        lambda: f"I live at {random.randint(1, 9_999)} {US.street_name()}, {US.postcode()}",
        lambda: f"{US.first_name()} scored {random.randint(10, 99)} to {random.randint(10, 99)} in game {random.randint(1, 7)}",
        lambda: f"flight {US.bothify('??###').upper()} leaves from gate {random.randint(1, 60)}",
        lambda: f"the part is {US.bothify('##-####-??').upper()} and costs {num2words(random.randint(20, 900))} euros",
        lambda: US.sentence(nb_words=12),
    )
    for index in range(75):
        add(makers[index % len(makers)]().replace("{}", ""))


for make in (cards, ibans, phones, emails, national_ids, births, near_misses):
    make()
path = pathlib.Path(__file__).with_name("held-out.jsonl")
path.write_text("".join(json.dumps(each, ensure_ascii=False) + "\n" for each in samples), encoding="utf-8")
print(f"{len(samples)} utterances")
