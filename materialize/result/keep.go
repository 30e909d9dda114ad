package result

import _ "github.com/santhosh-tekuri/jsonschema/v6"
