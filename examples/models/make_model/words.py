"""The words of the meadow: who lives there, and what there is to tell of."""

# Short, so that each becomes one token or two.
SHE = "Nell Tess Dot Jill Meg Una Fay Pam Ida Kit Nan Ivy Bess Ada Peg Joy Lil Eve Kay Mia Tilly Ella".split()
HE = "Tim Sam Ben Hob Otto Ned Gus Pim Dan Tam Ted Cob Len Bill Ivo Jim Rob Finn Leo Moss".split()

# kind: (home, gait), the gait in the past tense
KINDS = {
    "fox": ("in a den under the old oak", "trotted"),
    "mouse": ("in a hole behind the mill", "scurried"),
    "hare": ("in the tall grass by the hedge", "bounded"),
    "otter": ("in a burrow on the river bank", "padded"),
    "crow": ("in the top of a tall elm", "flapped"),
    "frog": ("among the reeds of the pond", "hopped"),
    "badger": ("in a deep house below the hill", "marched"),
    "duck": ("on a little island in the lake", "waddled"),
    "mole": ("in a tunnel beneath the meadow", "shuffled"),
    "jay": ("high up in a hollow beech", "flew"),
    "toad": ("under a broken flower pot", "crawled"),
    "robin": ("in a nest beside the garden gate", "fluttered"),
    "vole": ("between the roots of a willow", "scurried"),
    "cat": ("in a basket of straw by the stove", "strolled"),
    "goose": ("in a shed behind the farm", "waddled"),
    "lamb": ("in a fold at the edge of the village", "skipped"),
    "wren": ("in a gap in the mossy wall", "fluttered"),
    "rabbit": ("in a warren on the sandy slope", "hopped"),
    "newt": ("under a stone in the ditch", "crept"),
    "swan": ("at the quiet end of the lake", "glided"),
}
TRAITS = ["curious", "careful", "merry", "brave", "quiet", "patient", "busy", "clever", "shy", "gentle", "proud",
          "sleepy", "cheerful", "stubborn"]

# place: the preposition of rest
PLACES = {
    "meadow": "in", "pond": "by", "old mill": "behind", "hill": "on", "birch wood": "in", "stone bridge": "under",
    "river": "by", "apple orchard": "in", "barn": "behind", "garden gate": "beside", "mossy wall": "beside",
    "wheat field": "in", "willow tree": "under", "well": "beside", "bramble hedge": "behind", "reed bed": "in",
    "sandy path": "on", "fern hollow": "in",
}

WATERS = ["river", "pond", "stone bridge", "reed bed"]

WEATHER = {  # season: {adjective: what one notices}
    "spring": {
        "misty": "The far trees were only grey shapes.", "rainy": "Drops ran down every leaf.",
        "mild": "The air smelled of new leaves.", "breezy": "The grass bent and rose again.",
        "bright": "Every puddle held a piece of the sky."},
    "summer": {
        "sunny": "The shadows were short and sharp.", "warm": "Bees hummed in the clover.",
        "hot": "Even the flies were too lazy to fly.", "still": "Not one leaf moved.",
        "windy": "The branches creaked and swayed."},
    "autumn": {
        "golden": "Yellow leaves lay on the ground.", "foggy": "Every sound seemed to come from nowhere.",
        "cool": "The swallows were getting ready to leave.", "wet": "Water dripped from the hedges.",
        "gusty": "Leaves whirled round in circles."},
    "winter": {
        "snowy": "Soft flakes covered every track.", "frosty": "The grass was white and stiff.",
        "cold": "Breath hung in the air like smoke.", "icy": "The puddles cracked underfoot.",
        "grey": "The clouds hung low over the hills."},
}

# how it gets lost: [(object, adjectives)]
OBJECTS = {
    "blow": [("kite", "red blue striped"), ("hat", "yellow straw tall"), ("scarf", "green woolly long"),
             ("flag", "small orange white"), ("map", "folded old paper"), ("cap", "grey woolly little"),
             ("ribbon", "silk blue red")],
    "roll": [("ball", "red round striped"), ("ring", "golden thin copper"), ("bead", "blue amber tiny"),
             ("hoop", "wooden yellow big"), ("nut", "brown silver round"), ("coin", "copper old shiny")],
    "float": [("boat", "paper little white"), ("bowl", "wooden yellow deep"), ("raft", "tiny cork flat"),
              ("spoon", "wooden long carved"), ("pot", "green empty small")],
    "drop": [("bell", "silver little brass"), ("key", "rusty iron small"), ("cup", "blue clay cracked"),
             ("lamp", "tin old green"), ("drum", "round red painted"), ("shell", "pink curly smooth"),
             ("pen", "thin carved black"), ("comb", "bone yellow fine"), ("fork", "tin bright bent")],
}
RELATIVES = ["grandmother", "uncle", "sister", "father", "aunt", "brother", "mother", "cousin"]

PLANTS = [  # (plant, what it first is, the danger, the cure, the harvest)
    ("bean", "a thin green loop", "no rain fell for nine days", "carried water from the well in {a:vessel}",
     "the pods hung down like green fingers"),
    ("pumpkin", "two fat round leaves", "the slugs came to eat the leaves", "laid a ring of ash around it",
     "one orange pumpkin was bigger than a stove"),
    ("sunflower", "a small green hook", "the wind bent the stem", "tied it to {a:stick}",
     "the yellow head looked over the wall"),
    ("strawberry", "three folded leaves", "a late frost was near", "covered it with straw",
     "six red berries shone under the leaves"),
    ("carrot", "a green feather", "the weeds grew thick around it", "pulled them out one by one",
     "a long sweet carrot came out of the earth"),
    ("apple", "a brown twig with one bud", "the goats came to chew the bark", "built a fence of thorns",
     "the first apple was red on one side and yellow on the other"),
    ("pea", "a pale curl", "the sparrows came to peck at it", "hung up a string of rattling shells",
     "every pod held seven sweet peas"),
    ("cabbage", "a round blue leaf", "the caterpillars came in a long line", "moved them all to the nettles",
     "the cabbage was as round as the moon"),
    ("turnip", "a rough little leaf", "the ground grew as hard as brick", "covered it with wet moss",
     "a fat white turnip sat in the row"),
]
VESSELS = ["bucket", "nutshell", "tin cup", "old boot", "jug"]
STICKS = ["stout stick", "hazel pole", "old broom"]

BUILDS = [  # (thing, purpose, material, failure, advice, mended, result)
    ("bridge", "to cross the stream with dry feet", "thin branches", "it broke in the middle with a loud crack",
     "Lay two thick logs side by side", "laid two thick logs side by side", "walked across without a wobble"),
    ("raft", "to float to the island", "dry reeds", "the knots came loose and the reeds drifted apart",
     "Tie it with willow bark", "tied it with willow bark", "floated all the way to the island"),
    ("hut", "to sleep dry at night", "sticks and mud", "the rain came in through the roof",
     "Put a layer of moss on top", "put a layer of moss on top", "slept dry while the rain drummed above"),
    ("swing", "to fly over the clover", "rope and a board", "the rope snapped on the first push",
     "Twist three ropes into one", "twisted three ropes into one", "flew so high that the clover looked small"),
    ("ladder", "to reach the ripest pears", "dead twigs", "the second step snapped", "Use ash wood for the steps",
     "used ash wood for the steps", "climbed up and filled a sack with pears"),
    ("cart", "to bring the turnips home", "planks and a crate", "one wheel fell off and rolled away",
     "Put a peg through the axle", "put a peg through the axle", "brought all the turnips home before dark"),
    ("bench", "to watch the sun go down", "a plank and four logs", "it rocked from side to side",
     "Push a flat stone under the short leg", "pushed a flat stone under the short leg",
     "sat there until the first star came out"),
    ("wall", "to keep the wind off the beds", "round stones", "it fell down in a heap",
     "Set the biggest stones at the bottom", "set the biggest stones at the bottom",
     "sat behind it and felt no wind at all"),
    ("sledge", "to slide down the white hill", "boards and nails", "it stuck fast in the snow",
     "Rub the runners with wax", "rubbed the runners with wax", "slid down the hill as fast as a swallow"),
    ("windmill", "to grind the barley", "cloth and laths", "the sails would not turn",
     "Make it face the wind", "made it face the wind", "ground enough flour for twelve loaves"),
]

FINDS = [  # (looks, first guess, second guess, truth, proof)
    ("thin and shiny", "a fish", "a piece of ice", "spoon", "ate soup with it"),
    ("long and white", "a bone", "a peeled stick", "candle", "lit it, and the whole room was bright"),
    ("small and round with two holes", "a mask for a flea", "a tiny wheel", "button", "sewed it on a coat"),
    ("clear and curved", "a frozen drop", "a window for ants", "lens",
     "looked through it at a beetle as big as a cow"),
    ("round and prickly", "a sleeping hedgehog", "a burr", "chestnut", "opened it and ate the sweet nut"),
    ("soft and yellow", "a chick", "a piece of the sun", "ball of wool", "made a pair of socks from it"),
    ("flat with many teeth", "a jaw", "a rake for dolls", "comb", "combed out every knot"),
    ("hollow and brown", "a hat", "half an egg", "acorn cup", "drank dew from it"),
    ("heavy and blue", "a plum", "a piece of the sky", "glass marble", "rolled it across the floor"),
    ("square and full of lines", "a dry leaf", "a spider's plan", "letter", "read every word of it aloud"),
    ("round and always ticking", "a beetle", "a heart", "watch", "was never late again"),
    ("black and bent", "a claw", "a dead root", "horseshoe", "hung it over the door for luck"),
]

GIFTS = [  # (gift, material, where it grows, making, why)
    ("basket", "rushes", "pond", "wove", "carry plums"),
    ("pillow", "thistledown", "meadow", "stuffed", "sleep softly"),
    ("whistle", "elder wood", "bramble hedge", "carved", "call you to tea"),
    ("broom", "birch twigs", "birch wood", "tied", "sweep my floor"),
    ("cap", "soft moss", "mossy wall", "made", "keep both ears warm"),
    ("boat", "bark", "river", "cut", "sail on the lake"),
    ("rope", "nettle threads", "fern hollow", "twisted", "dry my washing"),
    ("mat", "wheat straw", "wheat field", "plaited", "wipe my feet"),
    ("bowl", "red clay", "river", "shaped", "eat my porridge"),
    ("lamp", "beeswax", "apple orchard", "made", "read at night"),
]
REASONS = ["had a birthday", "had mended the roof", "had been ill for a week", "had moved into a new home",
           "had shared the last of the plums"]

FOODS = ["nettle soup", "barley bread", "apple tea", "oat cake", "hot milk", "plum jam", "mushroom stew", "honey porridge"]
PARCELS = ["jar of honey", "loaf of rye bread", "letter", "pot of jam", "bag of walnuts", "warm blanket", "box of seeds",
           "round cheese", "bunch of mint", "sack of flour"]
TROUBLES = [  # (what is wrong, help, cause of delay)
    ("was stuck in the mud", "pulled until {g} came free with a pop"),
    ("could not lift a heavy sack", "took one end of the sack"),
    ("had a thorn in one foot", "drew the thorn out very slowly"),
    ("had lost the way in the fog", "showed {ghim} the path home"),
    ("was trying to chase a goat from the beans", "shouted and waved until the goat ran off"),
    ("had spilled a whole basket of peas", "picked up the peas one by one"),
]
NOISES = [("tap, tap, tap", "a twig that knocked at the window", "tapping"),
          ("scratch, scratch", "a beetle that walked across the roof", "scratching"),
          ("drip, drip, drip", "water that fell into a tin pan", "dripping"),
          ("hoo, hoo", "the wind that blew over an empty jug", "hooting"),
          ("rattle, rattle", "a loose shutter that shook in the wind", "rattling"),
          ("creak, creak", "the old gate that swung to and fro", "creaking"),
          ("thump, thump", "ripe apples that fell on the grass", "thumping")]
LIGHTS = ["lantern", "candle", "torch", "little lamp"]

WATCHED = {  # kind: (place, where, doing, what it carries)
    "heron": ("pond", "in the shallow water", "stood on one leg", "a silver fish"),
    "hare": ("wheat field", "between the furrows", "sat up with tall ears", "a stalk of barley"),
    "wren": ("bramble hedge", "among the thorns", "sang louder than its size", "a wisp of moss"),
    "squirrel": ("birch wood", "on the lowest branch", "flicked its tail", "a hazelnut"),
    "vole": ("reed bed", "on a floating leaf", "washed its ears", "a piece of clover"),
    "robin": ("garden gate", "on the handle of a spade", "watched the wet earth", "a brown worm"),
    "beaver": ("river", "near the dam", "floated like a log", "a willow branch"),
    "owl": ("old mill", "on a dead tree", "turned its head all the way round", "a long feather"),
    "ant": ("sandy path", "in a crack of the ground", "ran in a crooked line", "a seed twice its size"),
    "bee": ("meadow", "on a blue flower", "buzzed in circles", "a load of yellow dust"),
    "thrush": ("apple orchard", "on a flat stone", "sang every note twice", "a broken shell"),
    "swallow": ("barn", "under the eaves", "turned in the air", "a beak full of mud"),
}
LAPS = [  # (to, on the way, what slows the fast one)
    ("the old mill and back", "at the stone bridge", "stopped to drink"),
    ("the top of the hill", "by the well", "lay down for a nap"),
    ("the far side of the lake", "in the reed bed", "took a wrong turn"),
    ("the birch wood", "in the wheat field", "ran after a butterfly"),
    ("the last house of the village", "on the sandy path", "stepped on a thorn"),
]
PRIZES = ["honey cake", "plum tart", "bunch of cherries", "round cheese", "big melon"]
GOODS = ["red apple", "wool hat", "clay jug", "brass bell", "bag of salt", "wax candle", "cork ball", "straw mat", "tin spoon",
         "green ribbon", "sharp pencil", "jar of jam"]
TOOLS = ["notebook", "pencil", "walking stick", "blue umbrella", "little stool"]
NUMBERS = ["two", "three", "four", "five", "six", "seven", "eight", "nine"]
BROODS = [("duck", "ducklings", "pond", "behind a clump of rushes"), ("hen", "chicks", "barn", "under an upturned basket"),
          ("goose", "goslings", "river", "asleep in the long grass"), ("fox", "cubs", "hill", "inside a hollow log"),
          ("hedgehog", "babies", "bramble hedge", "rolled up in a leaf"), ("quail", "chicks", "wheat field", "in a deep cart track")]
