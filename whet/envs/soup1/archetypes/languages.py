"""Short texts in ten languages, put together from parts that fit each other in any combination."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass

from whet.envs.soup1.words import pick, whole


@dataclass(frozen=True, slots=True)
class Language:
    """Who, does what, when: a sentence is one of each, in this order."""

    name: str
    who: tuple[str, ...]
    what: tuple[str, ...]
    when: tuple[str, ...]
    space: str = " "
    stop: str = "."
    rtl: bool = False

    def sentence(self, rng: random.Random) -> str:
        return self.space.join((pick(rng, self.who), pick(rng, self.what), pick(rng, self.when))) + self.stop

    def text(self, rng: random.Random) -> str:
        """Two sentences with a number between them, which tells texts apart."""
        return f"{self.sentence(rng)} {whole(rng, 100, 9999)} {self.sentence(rng)}"


def _language(
    name: str, who: str, what: str, when: str, space: str = " ", stop: str = ".", rtl: bool = False
) -> Language:
    """A language from lists whose entries stand between bars."""
    return Language(name, tuple(who.split("|")), tuple(what.split("|")), tuple(when.split("|")), space, stop, rtl)


LANGUAGES: Mapping[str, Language] = {
    "zh": _language(
        "Chinese",
        "我们的编辑|这家商店|博物馆|那位老师|市政厅|新的火车|图书馆员|邻居的孩子",
        "打开了窗户|整理了档案|出售新鲜水果|介绍当地历史|修理旧钟表|发布新的公告|准备晚餐|画了一张地图",
        "在清晨|每个星期一|下雨之后|在节日期间|到月底为止|从去年开始|在春天|直到深夜",
        space="",
        stop="。",
    ),
    "ar": _language(
        "Arabic",
        "المعلم الجديد|فريق التحرير|مدير المتحف|صاحب المتجر|أمين المكتبة|الطباخ الماهر|سائق القطار|مهندس المدينة",
        "يفتح الأبواب الكبيرة|يكتب تقريرا مفصلا|يقرأ الرسائل القديمة|يبيع الفواكه الطازجة|"
        "يرتب الكتب|يصلح الساعة|يرسم خريطة جديدة|يشرح التاريخ",
        "في الصباح الباكر|كل يوم اثنين|بعد المطر|قبل نهاية الشهر|خلال العطلة|منذ العام الماضي|في فصل الربيع|حتى المساء",
        rtl=True,
    ),
    "ja": _language(
        "Japanese",
        "新しい先生は|町の図書館は|その店は|博物館の館長は|編集部は|駅員さんは|隣の料理人は|若い画家は",
        "窓を開けました|古い本を並べます|新鮮な果物を売ります|歴史を説明します|"
        "時計を直します|地図を描きます|手紙を読みます|夕食を用意します",
        "と朝早く聞きました|と月曜日に書きました|と雨の後に言いました|と毎年伝えています|"
        "と月末に知りました|と春に話しました|と夜まで続きます|と去年決まりました",
        space="",
        stop="。",
    ),
    "ko": _language(
        "Korean",
        "새로운 선생님은|도시 도서관은|우리 가게는|박물관 관장은|편집부는|기차 기관사는|이웃 요리사는|젊은 화가는",
        "창문을|오래된 책을|신선한 과일을|지역 역사를|낡은 시계를|새 지도를|긴 편지를|따뜻한 저녁을",
        "아침 일찍 살펴봅니다|월요일마다 정리합니다|비가 온 뒤에 소개합니다|명절에 준비합니다|"
        "월말까지 기다립니다|작년부터 모읍니다|봄에 보여 줍니다|밤까지 지킵니다",
    ),
    "ru": _language(
        "Russian",
        "Новый учитель|Городской архив|Старый музей|Хозяин лавки|"
        "Наш редактор|Опытный повар|Молодой художник|Местный инженер",
        "открывает большие окна|хранит важные письма|продаёт свежие фрукты|объясняет историю города|"
        "чинит старые часы|рисует подробную карту|готовит вкусный ужин|читает длинный отчёт",
        "рано утром|каждый понедельник|после дождя|во время праздника|"
        "до конца месяца|с прошлого года|ранней весной|до поздней ночи",
    ),
    "de": _language(
        "German",
        "Die neue Lehrerin|Das städtische Archiv|Der ältere Händler|Unser Museum|"
        "Die Köchin|Der junge Maler|Die Brückenwärterin|Das Büro für Übersetzung",
        "öffnet große Fenster|prüft alte Briefe|verkauft süße Früchte|erklärt die Geschichte|"
        "repariert schöne Uhren|zeichnet eine Straßenkarte|kocht heiße Brühe|ordnet viele Bücher",
        "am frühen Morgen|jeden Montag|nach dem Regen|während der Feiertage|"
        "bis zum Monatsende|seit vorigem März|im späten Frühling|über Nacht",
    ),
    "es": _language(
        "Spanish",
        "La nueva maestra|El archivo del señor Núñez|La panadería|El museo pequeño|"
        "Nuestra redacción|El cocinero|La joven pintora|El ingeniero español",
        "abre las ventanas|guarda cartas en el desván|vende piñas frescas|explica la historia del país|"
        "repara relojes de época|dibuja un mapa útil|prepara la cena del año|lee un informe único",
        "por la mañana|cada miércoles|después de la lluvia|durante el otoño|"
        "hasta fin de mes|desde el año pasado|en los días fríos|a última hora",
    ),
    "fr": _language(
        "French",
        "La maîtresse d’école|Le musée du théâtre|Notre rédaction|Le pâtissier|"
        "La bibliothécaire|Le jeune élève|Une ingénieure|Le maire du village",
        "ouvre la fenêtre|garde des lettres reçues|vend des pêches sucrées|raconte l’été dernier|"
        "répare l’horloge|dessine une île|prépare le dîner|relit le résumé",
        "très tôt le matin|chaque lundi|après la pluie|pendant la fête|"
        "jusqu’à la fin du mois|depuis l’année passée|à Noël|où il fait frais",
    ),
    "hi": _language(
        "Hindi",
        "नया अध्यापक|शहर का पुस्तकालय|हमारा दुकानदार|पुराना संग्रहालय|संपादक मंडल|अच्छा रसोइया|युवा चित्रकार|पड़ोस का बच्चा",
        "सुबह जल्दी|हर सोमवार|बारिश के बाद|त्योहार के दिन|महीने के अंत में|पिछले साल से|वसंत में|देर रात तक",
        "खिड़कियाँ खोलता है|पुराने पत्र पढ़ता है|ताज़े फल बेचता है|इतिहास समझाता है|"
        "घड़ी ठीक करता है|नक्शा बनाता है|भोजन तैयार करता है|किताबें सजाता है",
        stop="।",
    ),
    "he": _language(
        "Hebrew",
        "המורה החדש|מנהל המוזיאון|בעל החנות|העורך שלנו|הטבח המנוסה|הצייר הצעיר|נהג הרכבת|ספרן העיר",
        "פותח את החלונות|קורא מכתבים ישנים|מוכר פירות טריים|מסביר את ההיסטוריה|"
        "מתקן שעונים|מצייר מפה חדשה|מכין ארוחת ערב|מסדר את הספרים",
        "מוקדם בבוקר|בכל יום שני|אחרי הגשם|בזמן החג|עד סוף החודש|מאז השנה שעברה|באביב|עד הלילה",
        rtl=True,
    ),
}
