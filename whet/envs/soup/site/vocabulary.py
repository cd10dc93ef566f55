"""The words of generated sites, dealt out to the two halves: a word, name or stem of one half is unknown to the other.

Function words (the, of, and ...) and the language of the markup itself belong to both.
"""

from __future__ import annotations

from typing import Literal

Half = Literal["train", "bench"]
HALVES: tuple[Half, Half] = ("train", "bench")


_HOMES: dict[str, Half] = {}
"""Which half a word went to: one that stands in two lists goes to the same."""


def _dealt(text: str) -> dict[Half, tuple[str, ...]]:
    """The words of a text in turn to either half; an underscore is a space within a word."""
    dealt: dict[Half, list[str]] = {half: [] for half in HALVES}
    for number, word in enumerate(text.split()):
        home = _HOMES.setdefault(word.lower(), HALVES[number % 2])
        dealt[home].append(word.replace("_", " "))
    return {half: tuple(words) for half, words in dealt.items()}


ADJECTIVES = _dealt(
    """
    agile alpine amber ample ancient arctic astute austere autumn balmy basic bold brave breezy bright brisk broad
    bronze calm candid careful casual cedar central cheerful chilly civic classic clean clear clever coastal cobalt
    compact cordial cosmic cosy creamy crimson crisp curious daily dapper dense dewy direct distant domestic double
    dry dusty eager early earnest eastern elastic elegant emerald endless even exact fabled fair famous fancy faithful
    festive fine firm fleet flexible floral fluent formal fragrant frank fresh frosty frugal gentle giant gilded glad
    glassy gleaming global glossy golden graceful grand granite grassy green hardy hazel hearty hidden hollow honest
    humble hushed icy ideal indigo inland inner intact iron ivory jade jaunty joint jolly keen kindly lasting lavish
    leafy level light lilac linen liquid lively local lofty lucid lunar lush magenta major maple marble maritime
    mature mellow merry mild minor mint misty mobile modern modest mossy mutual narrow native neat nimble noble
    northern novel oaken opal open ornate outer oval pale patient pearly plain playful pleasant plush polar polished
    portable precise prime proud prudent pure quaint quick quiet radiant rapid rare ready regal remote ripe robust
    roomy rosy round rugged rural rustic sandy scarlet scenic secure serene shady sharp shiny silent silken silver
    simple sleek slender slow smooth snowy snug sober soft solar solid sonic southern spacious sparse speedy spiral
    splendid stable stately steady steep stellar sterling still stony stout striped sturdy subtle sunny supple swift
    tall tame tangy tender thorough tidal tidy timely tranquil trim tropical trusty twilight unique upland upper urban
    useful valiant vast velvet verdant vernal vibrant vintage violet vivid warm waxen western wide wild windy wintry
    wise witty wooden woven young zesty zonal
    """
)
NOUNS = _dealt(
    """
    abbey acorn adapter airfield alcove almanac alley amplifier anchor antenna anvil apron aqueduct arcade arch
    archive armchair arrow atlas attic aviary awning axle badge bakery balcony ballad balloon bamboo banjo banner
    barge barley barn barrel basalt basin basket bayou beacon beaker beam belfry bellows bench berry binder birch
    biscuit blade blanket blossom bluff boardwalk boiler bolt bonfire bonnet bookcase boulder bracket branch brass
    brick bridge briefcase brook broom brush bucket buckle bugle bungalow buoy burrow bushel cabin cable caboose
    cactus camera canal candle canoe canopy canvas canyon caravan carpet cartwheel cascade castle cauldron cavern
    cello cellar chalet chalk chamber channel chapel chariot chestnut chimney chisel cider cinder circuit citadel
    clarinet clay cliff cloak clock clover coal cobbler cocoon comet compass conduit copper coral corridor cottage
    cotton courtyard cove crane crate creek crest cricket crystal cupboard curtain cushion cutlass cymbal dahlia dairy
    dam delta denim depot desert dial dome donkey dory draft dragonfly drawer drum dune easel echo elm ember engine
    envelope estuary fabric falcon feather fender fern ferry fiddle fig filament fjord flagstone flannel flask flint
    flute foil foothill forge fort fountain foxglove frame freight furnace gable galley garden garland garnet garret
    gatepost gauge gazebo geyser ginger girder glacier glade glove goblet gondola gorge granary grape gravel grotto
    grove guitar gully hammer hammock harbor harness harp harvest hatch hawk hazelnut hearth heather hedge helmet
    hemlock heron hickory hinge hive hollyhock honey hoop horizon hornet hourglass hut ibis inlet ink island ivy
    jacket jasmine jetty jigsaw juniper kayak keel kennel kernel kettle keystone kiln kite knapsack ladder ladle
    lagoon lamp lantern larch lark lattice lava lavender ledge lemon lens lever lichen lighthouse lily lime linnet
    lintel loaf locket locomotive loft loom lotus lumber lute lynx magnet magpie mallet mantel marigold marsh mast
    meadow medal melody mesa meteor mill millstone mineral mirror mitten moat monsoon moor mortar mosaic moss moth
    mountain mulberry mural mushroom nebula needle nest nettle nickel nook nutmeg oar oasis oatmeal obelisk ocean
    olive orbit orchard orchid organ osprey otter oven owl oyster paddle pagoda palace palette panel panther papaya
    parade parapet parasol parcel parrot parsley pasture patio pavilion peach peak pebble pelican pendulum pepper
    perch piano pigment pillar pillow pine pinnacle pipe pitcher plateau plaza plough plume pocket pond poplar poppy
    porch portal pottery prairie prism propeller pulley pumpkin puzzle pyramid quail quarry quartz quill quilt rabbit
    radish raft railway rainbow ranch rapids raven ravine reed reef reservoir ribbon ridge river rivet robin rocket
    rope rosemary rotor rowboat rudder saddle saffron sail salmon sandal sapphire satchel saucer sawmill scaffold
    scarf schooner scroll sculpture seashell sequoia shed shield shore shovel shutter sickle silo skylight sleigh
    sluice smelter snowdrift sofa solstice sonata sparrow spindle spire spruce squash stable staircase starling
    steeple stencil stirrup stove strait straw streamer studio summit sundial sunrise swallow swamp sycamore tangerine
    tapestry tavern teapot telescope temple terrace thicket thimble thistle thorn throne thunder tide timber tinder
    topaz torch tower trail trellis trestle trombone trout trowel tulip tundra tunnel turbine turnip turret turtle
    twine umbrella valley valve vane vault veranda vessel viaduct village vine vineyard violin volcano wagon walnut
    warbler warehouse waterfall wharf wheat whisk willow windmill window wisteria wreath yacht yarn zenith zephyr zinc
    zinnia
    """
)
VERBS = _dealt(
    """
    absorbs adapts adjusts adorns aligns anchors answers arranges assists banks bends binds blends borrows boosts
    brings brushes builds calls captures carries carves catches cheers chooses circles clears climbs collects combines
    completes connects copies counts covers crafts crosses curves cuts decorates defends delivers designs detects
    dives divides draws drifts drives dusts earns echoes enters equips escorts examines extends faces feeds fetches
    fills filters finds fixes floats folds follows forges forms frames gathers glides grants greets grinds grows
    guards guides handles heats helps hides hires hoists holds hums illustrates improves includes inspires invites
    joins jumps keeps kneads knits launches leads leans learns lends lifts lights limits links listens loads lowers
    maps marks matches measures meets melts mends mixes molds moves names needs nudges observes offers opens outlines
    packs paints passes patches paves places plants polishes pours praises presses prints protects pulls pushes raises
    reaches reads recalls reflects refines repairs rescues rests returns reveals rings rinses rolls rotates rubs sails
    salutes scans seals seeks sends serves settles shapes shelters shields shows signals sings skims smooths solves
    sorts sparks spins spreads stacks starts steers stirs stitches stores strengthens stretches studies supports
    surrounds sustains sweeps swings tends tests threads ties toasts touches traces trades trains transforms travels
    treats trims tunes turns twists unfolds unites uplifts values visits walks warms washes watches waters weaves
    weighs welcomes winds wraps writes yields
    """
)
FIRST_NAMES = _dealt(
    """
    Aaliyah Aaron Abigail Adela Adrian Agnes Aiko Alan Alba Alejandro Alina Amara Amelia Anders Andrea Anil Anja Anouk
    Anton Ariel Arjun Asha Astrid Aubrey August Aurora Bao Beatriz Benedict Bianca Bjorn Boris Bridget Bruno Calvin
    Camila Caspar Cecilia Cedric Celeste Chiara Clara Clemens Colin Dagmar Dalia Damian Daphne Darius Deepa Delia
    Desmond Diego Dimitri Dominik Dora Edgar Edith Eduardo Eleanor Elias Elisa Emil Enrique Esther Ethan Eva Fabian
    Farah Felix Fiona Flora Florian Freya Gabriel Gemma Georg Gita Greta Gustav Hamid Hannah Harriet Hassan Heidi
    Helena Henrik Hugo Ida Ilse Imani Ingrid Irena Isaac Isla Ismail Jamal Jana Jasper Jelena Joaquin Joelle Johan
    Judith Julian Kamal Karin Kasper Katya Keiko Kenji Kira Klara Kofi Lars Laszlo Layla Leif Leila Leo Lidia Lorenzo
    Lucia Ludwig Luisa Magda Malik Manuel Marcus Margot Marisol Marta Mateo Matilda Mei Mikael Milan Miriam Mohan
    Monica Nadine Naoki Natalia Nils Nina Nora Oleg Olivia Oscar Otto Paloma Pascal Paula Pavel Pedro Philippa Priya
    Quentin Rafael Rahul Ramona Rania Regina Rene Rhea Rico Rina Robin Roland Rosalind Ruben Ruth Sabine Salma Samir
    Sandra Santiago Sara Selim Silvia Simon Sofia Stefan Sunita Susanna Tadeusz Talia Tamar Tariq Teodor Theresa
    Thiago Tobias Ulrika Ursula Valentin Vera Vikram Vincent Walter Wei Wilhelm Xenia Yasmin Yuki Yusuf Zara Zita
    """
)
LAST_NAMES = _dealt(
    """
    Abara Acosta Adler Aguilar Ahlgren Akhtar Albrecht Almeida Amado Andrade Arnault Asano Aydin Bachmann Banerjee
    Barros Bartok Baxter Becker Bellini Benitez Bergstrom Bianchi Blanchard Bogdanov Borg Bradshaw Brandt Brennan
    Bukowski Caldwell Calloway Camara Cardoso Carlsen Chandra Chavez Cho Cisneros Clement Colombo Cordero Costa
    Crowley Czerny Dahl Danielsen Darwish Delacroix Delgado Demir Desai Diallo Dimitrov Donovan Drexler Duarte Ebert
    Eklund Elgar Engström Escobar Espinoza Fabre Falk Farouk Fernandes Ferrari Fontaine Forsberg Fuentes Fujita
    Gallagher Gallo Garnier Ghosh Gomes Grabowski Granger Greco Gruber Guerrero Gupta Haas Hakimi Halloran Hamasaki
    Hartmann Hashimoto Hedlund Herrera Hidalgo Hofmann Holmberg Horvat Huber Hussain Ibarra Iglesias Imamura Ito
    Jansen Jimenez Joshi Juarez Kaminski Kapoor Karlsson Kaur Keller Khoury Kimura Klein Kobayashi Koch Kovac Kruger
    Kumar Lachance Lambert Laurent Leclerc Lindholm Lombardi Lopes Lozano Ludlow Lund Macias Madsen Maier Malhotra
    Marchetti Marino Matsuda Mbeki Medina Meier Mendes Messina Meyer Mishra Molina Montoya Morales Moretti Mueller
    Murakami Nair Navarro Nguyen Nielsen Nilsson Noguchi Novak Nowak Nygaard Obi Ochoa Odell Ogawa Olsen Ortega Osman
    Paredes Parisi Pedersen Pereira Petrov Pham Pires Popescu Prieto Quiroga Rahman Ramirez Rao Reyes Ribeiro Richter
    Rinaldi Rojas Romano Rousseau Ruiz Saito Salazar Samuelsen Sandoval Sato Schmidt Schroder Serrano Sharma Silva
    Simonsen Singh Sokolov Solberg Soto Steiner Suarez Suzuki Svensson Szabo Takahashi Torres Traore Uchida Ulrich
    Vasquez Vega Verma Vidal Vogel Volkov Wagner Watanabe Werner Wolff Yamada Yildiz Zamora Ziegler Zimmer
    """
)
PRODUCTS = _dealt(
    """
    Apron Armchair Backpack Basket Bicycle Binoculars Blanket Blender Bookend Bottle Bowl Bracelet Broom Bucket
    Cabinet Camera Candle Cap Chair Charger Clock Coat Compass Cooler Cup Cushion Desk_Lamp Dish_Rack Doormat Drill
    Dumbbell Earbuds Easel Fan Flashlight Flask Fork_Set Frame Fryer Gloves Grater Griddle Grill Grinder Hammer
    Hammock Hat Headset Heater Helmet Humidifier Iron Jacket Jar Jug Juicer Kettle Keyboard Knife_Block Ladder Lantern
    Laptop_Stand Lighter Loafers Lunchbox Mattress Mirror Mixer Monitor Mug Necklace Notebook Oven_Mitt Paddle Pan
    Parasol Pen_Set Pillow Pitcher Planter Plate_Set Printer Projector Purse Quilt Racket Radio Rake Recliner Roaster
    Router Rug Sandals Saucepan Scale Scarf Scooter Screwdriver Shelf Shovel Skillet Sleeping_Bag Slippers Sneakers
    Soundbar Spoon_Set Stapler Stool Suitcase Sunglasses Sweater Table_Runner Teapot Tent Thermometer Thermos Toaster
    Toolbox Torch Towel Tray Tripod Trowel Umbrella Vacuum Vase Vest Wallet Watch Whisk Wok Wrench
    """
)
FIRMS = _dealt(
    """
    Works Supply Partners Trading Labs Studios Logistics Goods Press Systems Brothers Outfitters Holdings Mills Foods
    Instruments Textiles Optics Foundry Ventures Collective Industries Provisions Motors Interiors Analytics
    Publishing Brewing Gardens Robotics Materials Ceramics
    """
)
CITIES = _dealt(
    """
    Aarhus Antwerp Asheville Bamberg Bath Bergen Bologna Bordeaux Boulder Bremen Bristol Bruges Burlington Cadiz
    Calgary Cardiff Charleston Cork Cusco Dayton Delft Denver Dresden Dundee Durham Essen Eugene Fargo Fresno Galway
    Geneva Ghent Girona Graz Halifax Hobart Innsbruck Izmir Jena Kazan Kobe Krakow Kyoto Lausanne Leeds Leiden Leipzig
    Lille Linz Lugano Lyon Madison Malmo Medellin Mobile Modena Nantes Napier Nara Odense Olomouc Omaha Oviedo Padua
    Perth Plovdiv Porto Provo Quebec Quito Reno Riga Rostock Salem Seville Siena Split Tacoma Tampere Toledo Trieste
    Tulsa Turku Utrecht Valencia Verona Victoria Vilnius Waco Windsor York Zadar Zwolle
    """
)
STREETS = _dealt(
    """
    Abbot Alder Aspen Bakers Beech Canal Cherry Church College Crescent Cypress Dock Elder Fairview Ferry Foundry
    Franklin Garrison Glen Grange Harbour Hawthorn High Hillside Jefferson King Lakeview Laurel Lincoln Linden
    Magnolia Market Mason Mill Monroe Orchard Palmer Park Pioneer Priory Quay Queen Ridge Rowan School Spring Station
    Sunset Sycamore Temple Trinity Union Vale Victory Walnut Water Willow Wood
    """
)
COLORS = _dealt(
    """
    Apricot Aqua Beige Black Blue Brown Burgundy Charcoal Cream Cyan Fuchsia Graphite Gray Khaki Lavender Maroon
    Mustard Navy Ochre Olive Peach Plum Purple Red Rust Sage Salmon Taupe Teal Terracotta Turquoise White
    """
)
STEMS = _dealt(
    """
    area aside band bar bay belt block board body bound box brick bundle canvas cap card case cell chunk cluster col
    content core corner cover deck dock drawer edge entry face field fold foot frame front gallery grid group gutter
    head hero hold holder host inner item keeper lane layer layout leaf level line list lobby map mark mask mast media
    morsel mod mount notch outer pack pad pane panel part piece pivot plane plate port pouch quad rack rail ramp rim
    ring root row sash sector section segment shell shelf side sill slab sleeve slice slide slot space spine spot
    stack stage stem step strip stub suite surface tab tail teaser tile tier top track tray unit view ward widget wing
    wrap yoke zone
    """
)
MODIFIERS = _dealt(
    """
    active alt back base bare big bleed bottom center clear close compact dark dense end fixed flat flip flush full
    ghost half high hover inline inset large last lead left light long loose low mid mini muted narrow near odd open
    pale plain push quiet right round sharp short slim small soft solid start sticky tall thick thin tight tiny upper
    wide xl
    """
)
