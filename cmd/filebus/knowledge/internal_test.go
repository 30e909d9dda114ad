package knowledge

// What tests look at from outside.
var (
	RankRows   = rankRows
	MaxMatches = maxMatches
)
