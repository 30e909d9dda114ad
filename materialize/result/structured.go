package result

import "filebus/materialize"

// examine reads the text of a request if the call wants it structured, takes the
// summary for the preview from it, and returns where it does not fit the schema.
// The request's Text gives all of it again.
func (c Call) examine(r *materialize.PutRequest) (problems []string, err error) {
	return nil, nil
}
