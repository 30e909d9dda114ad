package main

import (
	"errors"
	"fmt"
	"strings"

	"filebus/materialize/dialogue"
)

// explainDialogue explains what the rules of dialogues refuse: which one is meant, who
// takes part, and what can be made.
func explainDialogue(f *failure, err error) bool {
	var missing *dialogue.NotFoundError
	var ambiguous *dialogue.AmbiguousError
	var captured *dialogue.CapturedError
	var round *dialogue.RoundError
	var agent *dialogue.AgentError
	var turn *dialogue.TurnError
	switch {
	case errors.As(err, &missing):
		f.Exit, f.Hint = exitNotFound, "filebus dialogue list"
		if len(missing.Near) > 0 {
			f.Hint = "the same with " + keysText(missing.Near)
		}
	case errors.As(err, &ambiguous):
		f.Exit, f.Hint = exitUsage, "the same with one of "+keysText(ambiguous.Keys)
	case errors.As(err, &captured):
		f.Exit, f.Hint = exitUsage, "the same with a dialogue of this project: filebus dialogue list"
	case errors.As(err, &round) && round.Round < 0:
		f.Exit = exitUsage
	case errors.As(err, &round):
		f.Exit, f.Hint = exitConflict, fmt.Sprintf("filebus dialogue prompt %s %d --all", quote(round.Key.String()), round.Next)
	case errors.As(err, &agent):
		f.Exit, f.Hint = exitNotFound, "filebus get "+quote("dialogue/"+agent.Key.ID+"/"+dialogue.PoolFile)
	case errors.As(err, &turn):
		f.Exit, f.Hint = exitConflict, "filebus get "+quote(turn.Name.String())+", or the same with --force"
	default:
		return explainNewDialogue(f, err)
	}
	f.Code = wordOf(f.Exit)
	return true
}

// explainNewDialogue explains why a dialogue cannot be made.
func explainNewDialogue(f *failure, err error) bool {
	var slug *dialogue.SlugError
	var taken *dialogue.SlugTakenError
	switch {
	case errors.As(err, &slug):
		f.Exit, f.Hint = exitUsage, "the same with --slug NAME, in lower-case letters, digits and hyphens"
	case errors.As(err, &taken):
		f.Exit, f.Hint = exitConflict, "the same with --slug NAME"
	case errors.As(err, new(*dialogue.RequestError)):
		f.Exit, f.Hint = exitUsage, "filebus dialogue new --help"
	case errors.As(err, new(*dialogue.NameError)), errors.As(err, new(*dialogue.TwiceError)):
		f.Exit = exitUsage
	default:
		return false
	}
	f.Code = wordOf(f.Exit)
	return true
}

// maxKeys is how many dialogues a hint names.
const maxKeys = 5

// keysText lists dialogues as they are typed.
func keysText(keys []dialogue.Key) string {
	var texts []string
	for _, k := range keys[:min(len(keys), maxKeys)] {
		texts = append(texts, quote(k.String()))
	}
	return strings.Join(texts, ", ")
}
