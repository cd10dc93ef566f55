"""Rows without a text to speak of, or with several things to find in one: tables, logs, fields of a document."""

from init.datasets import TEXT
from init.schemas.draw import Draw, Schema, schema

Row = dict[str, object]


@schema("titanic.csv", "Survived", "choice", "Pclass|Sex|Age", "Name|SibSp|Parch|Ticket|Fare|Cabin|Embarked", count=80)
def titanic(d: Draw) -> Row:
    sex = d.pick("male", "female")
    return {
        "PassengerId": d.k + 1,
        "Survived": int((sex == "female") ^ (d.rng.random() < 0.2)),
        "Pclass": d.int(1, 3),
        "Name": f"{d.name().split()[1]}, Mr. {d.name().split()[0]}",
        "Sex": sex,
        "Age": d.pick("", d.int(1, 80), d.int(1, 80)),
        "SibSp": d.int(0, 3),
        "Parch": d.int(0, 2),
        "Ticket": f"A/5 {d.int(10**4, 10**5)}",
        "Fare": round(d.rng.random() * 90, 4),
        "Cabin": d.pick("", "", f"C{d.int(10, 99)}"),
        "Embarked": d.pick("S", "C", "Q"),
    }


@schema("iris.csv", "species|variety", "choice", "sepal_length|sepal_width|petal_length|petal_width", count=60)
def iris(d: Draw) -> Row:
    kind = d.k % 3
    return {
        "sepal_length": round(4 + kind + d.rng.random(), 1),
        "sepal_width": round(2 + d.rng.random(), 1),
        "petal_length": round(1 + 2 * kind + d.rng.random(), 1),
        "petal_width": round(0.2 + kind + d.rng.random(), 1),
        "species": ("setosa", "versicolor", "virginica")[kind],
    }


@schema(
    "adult.csv",
    "income",
    "choice",
    "age|workclass|education|occupation|hours-per-week",
    "fnlwgt|marital-status|sex|native-country",
    count=80,
)
def adult(d: Draw) -> Row:
    school = d.pick("Bachelors", "HS-grad", "Masters", "11th")
    return {
        "age": d.int(18, 80),
        "workclass": d.pick("Private", "State-gov", "?"),
        "fnlwgt": d.int(10**4, 10**6),
        "education": school,
        "marital-status": d.pick("Divorced", "Never-married"),
        "occupation": d.pick("Sales", "Tech-support", "Craft-repair"),
        "sex": d.pick("Male", "Female"),
        "hours-per-week": d.int(20, 70),
        "native-country": "United-States",
        "income": ">50K" if school in ("Bachelors", "Masters") and d.rng.random() < 0.8 else "<=50K",
    }


@schema(
    "churn.csv",
    "Churn",
    "choice",
    "tenure|Contract|MonthlyCharges",
    "gender|SeniorCitizen|Partner|PhoneService|PaymentMethod|TotalCharges",
    count=80,
)
def churn(d: Draw) -> Row:
    contract = d.pick("Month-to-month", "One year", "Two year")
    return {
        "customerID": f"{d.int(1000, 9999)}-{d.hex(5).upper()}",
        "gender": d.pick("Male", "Female"),
        "SeniorCitizen": d.int(0, 1),
        "Partner": d.pick("Yes", "No"),
        "tenure": d.int(1, 72),
        "PhoneService": d.pick("Yes", "No"),
        "Contract": contract,
        "PaymentMethod": d.pick("Electronic check", "Mailed check"),
        "MonthlyCharges": round(20 + d.rng.random() * 90, 2),
        "TotalCharges": round(d.rng.random() * 8000, 2),
        "Churn": "Yes" if contract[0] == "M" and d.rng.random() < 0.7 else "No",
    }


@schema(
    "house_prices.csv",
    "SalePrice|price",
    "number",
    "area|bedrooms",
    "bathrooms|stories|parking|furnishingstatus|mainroad",
    count=60,
)
def house_prices(d: Draw) -> Row:
    area = d.int(1500, 9000)
    return {
        "price": area * 700 + d.int(0, 10**6),
        "area": area,
        "bedrooms": d.int(1, 5),
        "bathrooms": d.int(1, 3),
        "stories": d.int(1, 4),
        "mainroad": d.pick("yes", "no"),
        "parking": d.int(0, 3),
        "furnishingstatus": d.pick("furnished", "semi-furnished", "unfurnished"),
    }


@schema("logs.csv", "level|severity", "choice", "message", "service|logger", count=60)
def logs(d: Draw) -> Row:
    level = d.pick("INFO", "WARN", "ERROR")
    return {
        "timestamp": d.moment(),
        "host": d.pick("web-1", "web-2", "db-1"),
        "service": d.pick("auth", "cart"),
        "level": level,
        "message": f"{d.words(8, level)} id={d.hex(8)}",
    }


@schema("alerts.jsonl", "severity", "choice", "message", "service|host", count=60)
def alerts(d: Draw) -> Row:
    level = d.pick("low", "medium", "high", "critical")
    return {
        "@timestamp": d.moment(),
        "alert_id": d.hex(12),
        "host": {"name": f"srv-{d.int(1, 9)}", "ip": f"10.0.0.{d.int(1, 250)}"},
        "message": d.words(11, level),
        "severity": level,
        "acknowledged": d.pick(True, False),
    }


@schema("job_ads.csv", "", "json", "ad_text", count=44)
def job_ads(d: Draw) -> Row:
    company, role, city, pay = (
        f"{d.name().split()[1]} Ltd",
        d.pick("Baker", "Nurse", "Welder", "Clerk", "Driver"),
        d.city(),
        str(d.int(20, 90) * 1000),
    )
    return {
        "ad_id": d.k,
        "ad_text": f"{company} is looking for a {role} in {city}. {d.text(None, 1)} We pay {pay} a year.",
        "company_name": company,
        "role": role,
        "city": city,
        "yearly_pay": pay,
    }


@schema("contacts.jsonl", "", "json", "signature", count=44)
def contacts(d: Draw) -> Row:
    who, place = d.name(), d.city()
    phone, firm = f"+49 {d.int(100, 999)} {d.int(10**5, 10**6)}", f"{d.words(1).title()} {d.words(1).title()} GmbH"
    return {
        "signature": f"Kind regards,\n{who}\n{firm}, {place}\nTel. {phone}",
        "person": who,
        "firm": firm,
        "telephone": phone,
        "town": place,
    }


@schema("invoices_flat.jsonl", "expected|expected_json", "json", "document")
def invoices_flat(d: Draw) -> Row:
    number, total, when = f"INV-{d.int(1000, 9999)}", f"{d.int(10, 900)}.50", d.date()
    return {
        "document": f"Invoice {number}\nDate {when}\n{d.words(12)}\nTotal EUR {total}",
        "expected": {"invoice_number": number, "date": when, "total": total},
        "file_name": f"scan_{d.k}.pdf",
    }


@schema("glossar.csv", "Deutsch|English", TEXT, (), "English|Deutsch", count=30)
def glossar(d: Draw) -> Row:
    return {"English": f"{d.words(2)} {d.k}", "Deutsch": f"{d.words(1)}ung {d.k}"}


@schema("tatoeba.tsv", "column_2|column_4", TEXT, (), "column_2|column_4|column_1|column_3", header=False, count=40)
def tatoeba(d: Draw) -> Row:
    return {"a": 1276 + d.k, "b": f"Let us {d.words(5)}.", "c": 2481 + d.k * 3, "d": f"Intentemos {d.words(5)}."}


@schema("units.csv", "Answer", "quantity|number", "Question", count=36)
def units(d: Draw) -> Row:
    km = d.int(2, 400)
    return {
        "#": d.k + 1,
        "Question": f"How far is it to {d.city()} on road {d.k}, if {d.words(5)} {km} km?",
        "Answer": f"{km} km",
        "Source": "atlas",
    }


@schema("ordering.jsonl", "order|sorted", "list|set|em|exact|json", "question", count=36)
def ordering(d: Draw) -> Row:
    values = d.rng.sample(range(10, 99), 5)
    return {
        "question": f"Put these into order: {', '.join(map(str, values))}",
        "sorted": [str(value) for value in sorted(values)],
    }


@schema("radiology.csv", "impression", ("f1", "anls", "rubric"), "findings", "indication|examination", count=40)
def radiology(d: Draw) -> Row:
    return {
        "study_id": f"s{d.int(10**6, 10**7)}",
        "examination": d.pick("CHEST PA AND LAT", "CHEST PORTABLE AP"),
        "indication": d.words(6),
        "findings": d.text(None, 5),
        "impression": d.text(None, 1),
    }


@schema("commits.jsonl", "msg|message", ("f1", "anls", "em", "rubric"), "diff", "repo")
def commits(d: Draw) -> Row:
    return {
        "sha": d.hex(40),
        "repo": d.pick("a/b", "c/d"),
        "author": d.name(),
        "date": d.moment(),
        "diff": f"--- a/x{d.k}.py\n+++ b/x{d.k}.py\n@@ -1 +1 @@\n-x = {d.int(1, 9)}\n+x = {d.words(4)}",
        "msg": f"Fix {d.words(5)}",
    }


ALL: tuple[Schema, ...] = (
    *(titanic, iris, adult, churn, house_prices, logs, alerts, job_ads, contacts, invoices_flat, glossar, tatoeba),
    *(units, ordering, radiology, commits),
)
