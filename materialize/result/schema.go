package result

// A Schema says what the structured output of an agent must look like.
type Schema struct{}
