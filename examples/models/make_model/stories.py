"""The skeletons of the stories: each writes one text on its page."""
import words

OPEN = ("[{n} was {a:trait} {nkind} who lived {nhome}.|{n} the {nkind} lived {nhome}."
        "|There was {a:trait} {nkind} called {n} who lived {nhome}.|{n}, {a:trait} {nkind}, had a home {nhome}.]")


def hero(page):
    page.being("n")
    page.v["trait"] = page.pick(words.TRAITS, page.v["nkind"])
    page.weather()


def lost(p):
    hero(p)
    how = p.pick(words.OBJECTS)
    p.object(how)
    p.v["relative"] = p.pick(words.RELATIVES)
    p.place("here", p.pick(words.WATERS) if how == "float" else None)
    p.place("there")
    p.place("yon")
    p.say(OPEN,
          "{He} had {a:adj} {obj}[ that {he} took everywhere| from {his} {relative}|, and {he} was very proud of it].",
          "One {weather} [morning|afternoon|day], {n} [took|carried] the {obj} to {here}. (?{notice})",
          {"blow": "Then a [sudden gust|puff of wind] [lifted|tore] the {obj} [up and away|over the trees].",
           "roll": "Then {he} tripped, and the {obj} rolled [down the slope|away between the stones].",
           "float": "Then {he} let go, and the water carried the {obj} [out of sight|round the bend].",
           "drop": "Then {he} [stumbled|sneezed], and the {obj} fell into [the long grass|a dark gap]."}[how],
          "{n} [looked|searched] {atthere} and {atyon}, but it was not there.",
          "(?{He} sat down on a [stone|log] and [sighed|cried].)")
    p.paragraph()
    p.being("f")
    p.say("[{f} the {fkind} came by|{f} the {fkind} heard {him}] and asked, \"[What is wrong|Why are you so sad], {n}?\"",
          "\"I have lost my {adj} {obj},\" said {n}.",
          "\"[Then we will look together|Four eyes see more than two|Do not give up],\" said {f}.",
          {"blow": "{Fhe} [climbed|looked] up and saw the {obj} [in the top of an elm|on a thorn bush].",
           "roll": "{Fhe} [bent down|sniffed] and found it [under a root|beside a mushroom].",
           "float": "{Fhe} ran along the bank and saw the {obj} [between two reeds|on a bed of weed].",
           "drop": "{Fhe} parted the [grass|leaves] and saw the {obj} [shine|lie] [under a fern|in the moss]."}[how],
          "(?{n} was so [happy|glad] that {he} [danced|laughed out loud|hugged {f}].)",
          {"blow": "After that, {n} always tied the {obj} to a string when the wind blew.",
           "roll": "After that, {n} always kept the {obj} in a deep bag.",
           "float": "After that, {n} always held the {obj} tight near the water.",
           "drop": "After that, {n} always carried the {obj} on a cord."}[how],
          "(?[And {f} was {his} friend for ever|Even {a:trait} {nkind} can lose {a:obj}, but not a friend].)")


def build(p):
    hero(p)
    keys = ("thing", "purpose", "material", "failure", "advice", "mended", "result")
    p.v.update(zip(keys, p.pick(words.BUILDS, p.v["nkind"])))
    if p.v["thing"] == "sledge":
        p.weather("winter")
    p.place("here")
    p.say(OPEN, "{n} wanted [to build|to make] {a:thing} {purpose}.",
          "[So {he} gathered {material}|So {he} found {material} {athere}|{He} worked with {material}] and worked "
          "[all morning|until noon|for three days]. (?The [day|weather] was {weather}. {notice})",
          "(?At last the {thing} was ready.) But when {n} tried it, {failure}.",
          "(?\"[Oh no|What a pity],\" said {n}, \"my poor {thing}!\")")
    p.paragraph()
    p.being("f")
    p.say("{f} the {fkind} [was watching|had seen it all]. (?{Fhe} did not laugh.)", "\"{advice},\" said {f}.",
          "[{n} thanked {fhim} and|{n} thought about it. Then {he}] {mended}.",
          "[Now the {thing} was strong|This time the {thing} did not fail], and {n} {result}.",
          "(?\"[Will you try it too, {f}?|Come and try it, {f}!]\" [called|said] {n}. "
          "{f} [did, and they took turns until evening|tried it, and {fhe} liked the {thing} very much].)",
          "(?[A good friend is worth more than a good tool|{A:trait} {nkind} can still learn from {a:fkind}].)")


def garden(p):
    hero(p)
    p.v.update(zip(("plant", "sprout", "danger", "cure", "harvest"), p.pick(words.PLANTS, p.v["nkind"])))
    p.v["vessel"], p.v["stick"] = p.pick(words.VESSELS), p.pick(words.STICKS)
    p.place("here")
    p.being("f")
    p.say(OPEN, "In [spring|April], {n} [put|pushed] {a:plant} seed into the earth {athere}.",
          "\"Nothing will come of it,\" said {f} the {fkind}. (?But {n} [only smiled|was sure].)",
          "[After twelve days|One morning|After a week of rain], {he} saw {sprout}. It was the {plant}!",
          "(?{n} [told it a story|sang to it|sat beside it] every evening.)")
    p.paragraph()
    p.say("Then {danger}. (?{n} was worried.) {n} {cure}, and the {plant} [was safe|grew on].",
          "(?[Summer came and went|The weeks went by], and {n} was never tired of looking.)",
          "In the end {harvest}.",
          "\"I was wrong,\" said {f}. \"[That is the finest {plant} in the land.|May I taste it?]\"",
          "{n} [laughed|nodded] and gave {fhim} half. (?They [ate|sat] together {athere}.) "
          "[The next seed they put in together|From then on, {f} helped with the digging].")


def gift(p):
    hero(p)
    p.being("f")
    gift_, material, where, made, use = p.pick(words.GIFTS, p.v["nkind"])
    p.v.update(gift=gift_, material=material, made=made, use=use, reason=p.pick(words.REASONS))
    p.place("here", where)
    p.place("hide")
    p.say(OPEN, "{His} [best|oldest] friend was {f} the {fkind}.",
          "One {weather} day, {f} {reason}, so {n} wanted to give {fhim} something.",
          "\"I will make {a:gift},\" {he} thought. {He} {nwent} to {here} [for|and gathered] {material}.",
          "[All evening|For two days], {he} {made} the {gift}. (?It was [not easy|slow work], "
          "and {he} had to start again [twice|three times].)")
    p.paragraph()
    p.say("(?{n} hid the {gift} {athide}, where {f} would not see it.)",
          "[In the morning|When it was done], {n} {nwent} to the home of {f}, {fhome}.",
          "\"This is for you,\" said {n}. (?{f} [opened {fhis} eyes wide|could hardly speak].)",
          "\"{A:gift} of {material}!\" cried {f}. \"Now I can {use}.\"",
          "(?[And {fhe} did, that very day|{n} was glad to hear it].) "
          "{f} [used|kept] the {gift} for many years, and often thought of {n} the {nkind}.")


def storm(p):
    hero(p)
    p.being("f")
    p.v["food"] = p.pick(words.FOODS, p.v["nkind"])
    how = p.pick(words.OBJECTS)
    p.object(how)
    p.say(OPEN, "One [night|evening], [black clouds|a storm] came over the hill.(? The [rain beat|wind pulled] at the door.)",
          "{n} [lit a fire|lit the stove] and made {food}. Then somebody knocked.",
          "It was {f} the {fkind}, [wet from head to foot|cold and tired]. \"[The water came into my home|The wind took my roof],\" "
          "{fhe} said.",
          "\"[Come in, come in|Then stay with me],\" said {n}. (?{He} gave {fhim} a [dry blanket|seat by the fire].)")
    p.paragraph()
    p.say("They [shared|finished] the {food} and told stories until [the storm was over|the thunder was far away].",
          "(?{f} [slept|snored] on the [rug|floor] all night.)",
          "(?In the morning [the sky was clear|the sun came out], and {n} helped {f} to [mend the roof|sweep out the mud].)",
          "[A week later|Some days later], {f} came back with {a:adj} {obj}.",
          "\"You gave me {food} when I was cold,\" {fhe} said, \"so this {obj} is for you.\"",
          "{n} [put|hung] the {adj} {obj} [by the window|over the stove]. (?When it rains, {he} looks at it "
          "and [smiles|thinks of {f}].)")


def find(p):
    hero(p)
    p.v.update(zip(("looks", "guess1", "guess2", "truth", "proof"), p.pick(words.FINDS, p.v["nkind"])))
    p.place("here")
    p.being("f")
    p.being("g")
    p.say(OPEN, "It was {a:weather} [morning|day]. (?{notice})",
          "{n} found something {athere}, and it was {looks}.",
          "\"What can it be?\" said {n}. {He} [took|carried] it to {f} the {fkind}.",
          "\"[It is|That must be] {guess1},\" said {f}. But it [did not look like {guess1}|was not {guess1}].",
          "(?\"Or perhaps {guess2},\" {fhe} added.)")
    p.paragraph()
    p.say("So {n} {nwent} to {g} the {gkind}, who [was old and wise|knew many things].",
          "{g} looked at it [for a long time|from all sides] and [laughed|smiled].",
          "\"It is {a:truth}, my dear {nkind},\" {ghe} said. \"[People use it in their houses|I had one when I was young].\"",
          "{n} took the {truth} home and {proof}.",
          "(?[{f} came to see it too|In the evening {f} came], and {n} [showed {fhim} the {truth}|told {fhim} the news]. "
          "\"{C:guess1}!\" said {f}, and they both laughed.)")


def night(p):
    hero(p)
    p.being("f")
    p.v.update(zip(("noise", "cause", "noising"), p.pick(words.NOISES, p.v["nkind"])))
    p.v["light"] = p.pick(words.LIGHTS, p.v["nkind"])
    p.say(OPEN, "One [night|dark night], {n} [woke up|could not sleep]. There was a noise. \"{C:noise},\" it went.",
          "(?{n} [pulled the blanket over {his} head|sat up and listened]. \"{C:noise},\" it went again.)",
          "{He} [took|lit] {a:light} and {nwent} to {f} the {fkind}, who lived {fhome}.",
          "\"[Something is outside my home|There is a monster],\" [whispered|said] {n}.")
    p.paragraph()
    p.say("\"[I am not afraid|Let us see],\" said {f}, (?though {fhis} voice shook a little, )and {fhe} came along.",
          "{n} held up the {light}. (?They [looked left and right|walked slowly, side by side].)",
          "Then they saw it: the noise was only {cause}!",
          "[{n} began to laugh|{f} began to laugh], and soon both [were laughing|laughed until they had to sit down].",
          "(?They drank [warm milk|mint tea] by the light of the {light}.)",
          "Now, when {n} hears the {noising} at night, {he} [turns over and sleeps|thinks of {f} and smiles].")


def errand(p):
    hero(p)
    p.being("f")
    p.being("g")
    p.v["parcel"] = p.pick(words.PARCELS, p.v["nkind"])
    p.v["trouble"], p.v["help"] = p.pick(words.TROUBLES)
    p.v["short"] = p.v["parcel"].split(" of ")[0].split()[-1]
    p.place("here")
    p.place("there")
    p.say(OPEN, "One {weather} day, {he} had to bring {a:parcel} to {f} the {fkind}, who lived {fhome}. (?{notice})",
          "(?\"[Be there before dark|Do not stop on the way],\" said {his} [mother|aunt|grandmother].)",
          "{n} [took|picked up] the {short} and {nwent} past {here}.",
          "[There {he} met|There sat] {g} the {gkind}, who {trouble}.")
    p.paragraph()
    p.say("{n} put down the {short}. {He} {help}. (?It took [a long time|an hour].)",
          "\"[Thank you|You are kind], {n},\" said {g}. \"I know a short way through the wood.\"",
          "So {n} [followed {ghim}|went with {ghim}] and was [not late at all|there before the sun went down].",
          "{f} [opened the door|was waiting] and took the {parcel}. (?\"[How good of you|Just what I need],\" {fhe} said.) "
          "[{n} stayed for supper|They all had tea], and there was a [pear|cake] for {g} as well. "
          "(?That is how {a:nkind}, {a:fkind} and {a:gkind} became friends.)")


def quarrel(p):
    hero(p)
    p.being("f")
    p.being("g")
    p.object(p.pick(words.OBJECTS))
    p.place("here")
    p.say("{n} the {nkind} and {f} the {fkind} were [walking|playing] {athere}. It was {a:weather} [day|morning]. (?{notice})",
          "[Both of them|They both] saw {a:adj} {obj} [in the grass|on the ground].",
          "\"I saw the {obj} first,\" said {n}. \"No, I did,\" said {f}.",
          "{n} pulled [at one side|hard], and {f} pulled [at the other|harder], until the {obj} [nearly broke|flew into a puddle].",
          "(?Then they [shouted|did not speak] for a while.)")
    p.paragraph()
    p.say("{g}, an old {gkind}, [put down {ghis} book|came out of {ghis} house]. \"[What a noise|How loud you are],\" {ghe} said. "
          "\"Why not share it? [{n} may have it in the morning, and {f} in the evening|One day it is with {n}, the next with {f}].\"",
          "(?[They thought about that|It was only fair]. {n} [washed|cleaned] the {obj}, and {f} dried it.)",
          "(?So {n} had the {obj} [first|until noon], and then {he} brought it to {f}.)",
          "(?[Soon they found that it was more fun together|But alone it was a little dull].) "
          "In the end, both [used|enjoyed] the {adj} {obj} side by side, and {g} [went back to sleep|had peace again].")


def diary(p):
    p.weather()
    kind = p.pick(words.WATCHED)
    place, where, doing, thing = words.WATCHED[kind]
    p.place("here", place)
    p.v.update(kind=kind, where=where, doing=doing, thing=thing, tool=p.pick(words.TOOLS), number=p.pick(words.NUMBERS))
    p.say("[Today was {a:weather} {season} day|It was {a:weather} day in {season}]. (?{notice})",
          "I took my {tool} and [walked|went] to {here}. (?[Nobody else was about|The path was empty].)",
          "[After a while|Soon] I saw {a:kind} {where}. It {doing}.",
          "I kept [very still|quiet] so that the {kind} would not [see me|be afraid].",
          "(?For {number} minutes we [looked at each other|were alone].)")
    p.paragraph()
    p.say("Then the {kind} [moved|turned], and I saw that it had {thing}. It [took its treasure away|went off with its treasure].",
          "I [waited|stayed] until the {kind} came back, {number} times in all.",
          "(?[A cloud hid the sun|A dog barked far away], and the {kind} was gone.)",
          "At home I opened my [diary|book] and wrote: \"{C:season}. {A:kind} {where}, with {thing}.\"",
          "[Tomorrow I will take my {tool} and go again|I hope that I see the {kind} tomorrow].")


def brood(p):
    p.weather()
    mother, young, where, hidden = p.pick(words.BROODS)
    total = p.pick([5, 4, 6, 3, 7, 8, 9])
    p.kinds.add(mother)
    p.place("here", where)
    p.being("n")
    p.v.update(mother=mother, young=young, hidden=hidden, many=words.NUMBERS[total - 2], fewer=words.NUMBERS[total - 3])
    p.say("[{A:mother} lived|There was {a:mother} who lived] {athere}. She had {many} {young}.",
          "(?[Every evening|At the end of each day] she counted them, and there were always {many}.)",
          "But one {weather} evening she counted only {fewer}. (?{notice})",
          "\"[One of my {young} is missing!|Where is my smallest one?]\" [cried|said] the {mother}.")
    p.paragraph()
    p.say("{n} the {nkind} heard her and [came at once|came to help]. \"[I will look for it|Stay here with the {fewer}],\" said {n}.",
          "{He} [looked|{nwent}] here and there, and [listened|called]. (?It was [getting dark|almost night].)",
          "At last {n} found the [little one|lost one] {hidden}. It was [fast asleep|not hurt at all].",
          "{He} [brought|led] it back to the {mother}. The {mother} counted again: {fewer} and one made {many}.",
          "\"Thank you, {n},\" said the {mother}. (?\"{A:nkind} like you is a good neighbour.\") "
          "[That night all {many} {young} slept in one warm heap|And all {many} {young} sang for {n}].")


def race(p):
    hero(p)
    p.being("f")
    p.v["goal"], p.v["midway"], p.v["pause"] = p.pick(words.LAPS, p.v["nkind"])
    p.v["prize"] = p.pick(words.PRIZES)
    p.say(OPEN, "{He} [told everyone|liked to say] that nobody was as fast as {a:nkind}.",
          "\"[Then let us race|Show me], {n},\" said {f} the {fkind}. \"We will run to {goal}.\"",
          "The prize was {a:prize}. (?It was {a:weather} [day|morning]. {notice})",
          "{n} was soon far in front. (?\"I can see the {prize} already,\" {he} thought.)")
    p.paragraph()
    p.say("But {midway}, {n} {pause}. {f} [came nearer and nearer|did not stop once].",
          "(?When {n} [looked round|heard steps], it was almost too late.)",
          "[{n} ran as never before|{n} ran and ran], and the two of them came in [side by side|at the same time].",
          "\"[You are faster than I thought|That was a fine race], {f},\" said {n}.",
          "\"And you are {trait}, even for {a:nkind},\" said {f}. They shared the {prize}, half and half.",
          "(?[Since then|From that day on], {n} and {f} have raced every week, and nobody counts who wins.)")


def market(p):
    hero(p)
    p.being("f")
    p.being("g")
    goods = []
    while len(goods) < 3:
        good = p.pick(words.GOODS, p.v["nkind"])
        if good not in goods:
            goods.append(good)
    p.v.update(zip(("one", "two", "three"), goods))
    p.v["relative"] = p.pick(words.RELATIVES[:1] + words.RELATIVES[2:3] + words.RELATIVES[4:5] + words.RELATIVES[6:7])
    p.say(OPEN, "On market day {he} had no money, only {a:one}. But {he} wanted {a:three} for {his} {relative}.",
          "(?It was {a:weather} day. {notice})",
          "First {he} [asked|met] {f} the {fkind}, who [sold|had] {a:two}.",
          "\"[Will you give me the {two} for|Can I have the {two} for] {a:one}?\" asked {n}.",
          "\"[Gladly|Yes, with pleasure],\" said {f}.(? \"I have always wanted {a:one}.\")")
    p.paragraph()
    p.say("Now {n} had {a:two}, and {he} [carried|took] it to {g} the {gkind}. On the table lay {a:three}.",
          "\"I can give you {a:two} for [that|it],\" said {n}.",
          "{g} [looked at the {two}|thought for a moment] and [nodded|shook hands]. (?\"A fair deal,\" {ghe} said.)",
          "So {n} {nwent} home with the {three}.",
          "\"How did you get {a:three}?\" asked {his} {relative}.",
          "\"[With {a:one}, {a:two} and two friends|I only had to ask],\" said {n}.")
