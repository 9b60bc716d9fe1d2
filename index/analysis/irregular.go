package analysis

import (
	"strings"

	"github.com/kljensen/snowball/english"
)

// irregularVerbs and irregularNouns are the common English words whose forms no stemmer joins: the
// word first, then its other forms. A form that is more often a word of its own (left, saw, found a
// company) is marked with ">": the word finds it, it does not find the word.
const irregularVerbs = `
arise arose arisen|awake awoke awoken|bear >bore >borne|beat beaten|become became|begin began begun|bend bent|
bind >bound|bite >bit bitten|blow blew blown|break broke broken|bring brought|build built|burn burnt|buy bought|
catch caught|choose chose chosen|cling clung|come came|creep crept|deal dealt|dig dug|draw drew drawn|
dream dreamt|drink drank drunk|drive drove driven|eat ate eaten|fall fell fallen|feed fed|feel felt|fight fought|
find found|flee fled|fling flung|fly flew flown|forbid forbade forbidden|forget forgot forgotten|forgive forgave forgiven|
freeze froze frozen|give gave given|go goes going went gone|grind >ground|grow grew grown|hang hung|hear heard|hide hid hidden|
hold held|keep kept|kneel knelt|know knew known|lead led|lean leant|learn learnt|leave >left|lend lent|lie >lay lain|
light lit|lose lost|make made|mean meant|meet met|mistake mistook mistaken|overcome overcame|override overrode overridden|
overwrite overwrote overwritten|pay paid|prove proven|rebuild rebuilt|rewrite rewrote rewritten|ride rode ridden|
ring >rang rung|rise >rose risen|rerun reran|run ran|say said|see >saw seen|seek sought|sell sold|send sent|
shake shook shaken|shine shone|shoot shot|show shown|shrink shrank shrunk|sing sang sung|sink sank sunk|sit sat|
sleep slept|slide slid|speak >spoke spoken|spend spent|spin spun|spring >sprang sprung|stand stood|steal stole stolen|
stick stuck|sting stung|strike struck stricken|string >strung|strive strove striven|swear swore sworn|sweep swept|swim swam swum|
swing swung|take took taken|teach taught|tear tore torn|tell told|think thought|throw threw thrown|
undergo underwent undergone|understand understood|undo undid undone|wake woke woken|wear wore worn|weave wove woven|weep wept|
win won|wind >wound|withdraw withdrew withdrawn|write wrote written`

const irregularNouns = `
child children|foot feet|goose geese|man men|mouse mice|person people|tooth teeth|woman women|life lives|wife wives|knife knives|
leaf >leaves|shelf shelves|half halves|wolf wolves|thief thieves|index indices|matrix matrices|vertex vertices|
analysis analyses|basis bases|crisis crises|hypothesis hypotheses|criterion criteria|phenomenon phenomena|appendix appendices`

// family is a word with forms that do not share its stem.
type family struct {
	word  string
	forms []string
}

// irregularForms and irregularStems are the families by the forms that find them and by the stem of
// their word.
var irregularForms, irregularStems = func() (byForm, byStem map[string]*family) {
	byForm, byStem = map[string]*family{}, map[string]*family{}
	for entry := range strings.SplitSeq(irregularVerbs+"|"+irregularNouns, "|") {
		names := strings.Fields(entry)
		f := &family{word: names[0]}
		byStem[english.Stem(f.word, true)] = f
		for _, name := range names[1:] {
			form, oneWay := strings.CutPrefix(name, ">")
			f.forms = append(f.forms, form)
			if !oneWay {
				byForm[form] = f
			}
		}
	}
	return byForm, byStem
}()
