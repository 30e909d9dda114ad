package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"

	"filebus/cmd/filebus/cli"
	"filebus/materialize"
	"filebus/materialize/likeness"
	"filebus/store"
	"filebus/store/folder"
	"filebus/store/record"
	"filebus/store/turnstile"
)

// settings returns the values in a table and the tables below, by their names.
func settings(prefix string, table reflect.Value) map[string]reflect.Value {
	all := map[string]reflect.Value{}
	for i := range table.NumField() {
		name := prefix + table.Type().Field(i).Tag.Get("toml")
		if all[name] = table.Field(i); all[name].Kind() == reflect.Struct {
			maps.Copy(all, settings(name+".", table.Field(i)))
		}
	}
	return all
}

// setting returns the keys that lead to a setting, and its value.
func setting(c *cli.Configuration, name string) (toml.Key, reflect.Value, error) {
	all := settings("", reflect.ValueOf(c).Elem())
	table, key, _ := strings.Cut(name, ".")
	if entries := all[table]; key != "" && entries.Kind() == reflect.Map { // the user names its keys
		key = strings.Trim(key, `"'`)
		if value := entries.MapIndex(reflect.ValueOf(key)); value.IsValid() {
			return toml.Key{table, key}, value, nil
		}
		return toml.Key{table, key}, reflect.Zero(entries.Type().Elem()), nil
	}
	names := slices.Sorted(maps.Keys(all))
	near := slices.MinFunc(names, func(a, b string) int {
		return likeness.Slips(a, name) - likeness.Slips(b, name)
	})
	if near != name {
		return nil, reflect.Value{}, cli.UsageError("there is no setting %q; the nearest is %s, of %s",
			name, near, strings.Join(names, ", "))
	}
	return strings.Split(name, "."), all[name], nil
}

// literal returns values as TOML has them, or "" for none. Of what is neither text nor a
// list TOML says itself whether it is right.
func literal(kind reflect.Kind, values []string) string {
	var value any = values
	switch one := strings.Join(values, " "); {
	case len(values) == 0 || kind != reflect.String && kind != reflect.Slice:
		return strings.Join(strings.Fields(one), " ") // on one line
	case kind == reflect.String:
		value = one
	}
	text, _ := toml.Marshal(map[string]any{"v": value}) // both have a form
	return strings.TrimSpace(strings.TrimPrefix(string(text), "v ="))
}

// tomlValue fits a value without comments in it, as configurations have them.
const tomlValue = `"(?:[^"\\\n]|\\.)*"|'[^'\n]*'|\[(?:[^]"'#[]|"(?:[^"\\\n]|\\.)*"|'[^'\n]*')*\]|[^\s"'[#]+`

// tableHead fits the line above what a table holds.
func tableHead(table toml.Key) *regexp.Regexp {
	return regexp.MustCompile(`(?m)^[ \t]*\[` + regexp.QuoteMeta(table.String()) + `\][^\n]*(?:\n|\z)`)
}

// edited returns a configuration in which a setting has another value, or none. All else
// stays as it is, byte for byte; what is written in an odd way comes out wrong.
func edited(text string, keys toml.Key, value string) string {
	start, stop, end := len(text)-len(strings.TrimPrefix(text, "\ufeff")), len(text), "\n"
	if strings.Contains(text, "\r\n") {
		end = "\r\n"
	}
	if value != "" && stop > start && text[stop-1] != '\n' {
		text, stop = text+end, stop+len(end)
	}
	key := keys[len(keys)-1:].String()
	if table := keys[:len(keys)-1]; len(table) > 0 {
		isDotted := regexp.MustCompile(`(?m)^[ \t]*` + regexp.QuoteMeta(table.String()) + `[ \t]*\.`).MatchString(text)
		switch at := tableHead(table).FindStringIndex(text); {
		case at != nil:
			start = at[1]
		case isDotted: // a table is defined once
			key = keys.String()
		case value != "":
			text += end + "[" + table.String() + "]" + end
			start, stop = len(text), len(text)
		}
	}
	if next := regexp.MustCompile(`(?m)^[ \t]*\[`).FindStringIndex(text[start:]); next != nil {
		stop = start + next[0]
	}
	part := text[start:stop]
	line := regexp.MustCompile(`(?m)^([ \t]*` + regexp.QuoteMeta(key) + `[ \t]*=[ \t]*)(?:` + tomlValue +
		`)([ \t]*(?:#[^\n]*|\r)?(?:\n|\z))`)
	switch at := line.FindStringSubmatchIndex(part); {
	case at != nil && value == "":
		part = part[:at[0]] + part[at[1]:]
	case at != nil:
		part = part[:at[3]] + value + part[at[4]:]
	case value != "":
		place := 0 // behind the others of its table
		for _, other := range regexp.MustCompile(`(?m)^[ \t]*[^#\s][^\n]*\n`).FindAllStringIndex(part, -1) {
			place = other[1]
		}
		part = part[:place] + key + " = " + value + end + part[place:]
	}
	return text[:start] + part + text[stop:]
}

// change returns a configuration in which a setting has other values, or none. It is an
// error if they are wrong, or if more would change. Without values, what stands there
// goes also if it is no setting.
func change(text, name string, values []string) (string, error) {
	line, after := "", text
	wanted, err := decoded(text)
	keys, value, nameErr := setting(new(cli.Configuration), name)
	if nameErr != nil {
		keys = strings.SplitN(name, ".", 2)
	}
	table, _ := wanted[name].(map[string]any)
	switch {
	case err != nil:
		return "", err
	case nameErr != nil && len(values) > 0:
		return "", nameErr
	case len(values) > 0:
		line = literal(value.Kind(), values)
		var alone cli.Configuration
		if _, err := toml.Decode(keys.String()+" = "+line, &alone); err != nil {
			kind := map[reflect.Kind]string{
				reflect.Bool: "true or false", reflect.Int: "a whole number", reflect.Slice: "a list", reflect.String: "one text",
			}[value.Kind()]
			return "", cli.UsageError("%s takes %s, and not %s", name, cmp.Or(kind, "settings of its own, as in "+name+".NAME"), line)
		}
		if err := alone.Parse(""); err != nil { // which checks the values
			return "", cli.Coded(record.Usage, "", err)
		}
	default:
		for _, key := range slices.Sorted(maps.Keys(table)) {
			after = edited(after, toml.Key{name, key}, "")
		}
		after = tableHead(keys).ReplaceAllLiteralString(after, "")
	}
	if after = edited(after, keys, line); after == text && nameErr != nil {
		return "", nameErr
	}
	assign(wanted, keys, line)
	if got, err := decoded(after); err != nil || !reflect.DeepEqual(got, wanted) {
		return "", fmt.Errorf("%s cannot be changed by itself in %s; edit the file by hand", name, cli.ConfigFile)
	}
	if err := new(cli.Configuration).Parse(after); err != nil && line != "" {
		return "", cli.Coded(record.Usage, "", err)
	}
	return after, nil
}

// decoded returns what a file has, without empty tables.
func decoded(text string) (map[string]any, error) {
	file := map[string]any{}
	_, err := toml.Decode(text, &file)
	dropEmpty(file)
	return file, err
}

func dropEmpty(file map[string]any) {
	maps.DeleteFunc(file, func(_ string, value any) bool {
		table, isTable := value.(map[string]any)
		return isTable && len(table) == 0
	})
}

// assign gives a key of a decoded file another value, or none.
func assign(file map[string]any, keys toml.Key, line string) {
	table, last := file, keys[len(keys)-1]
	if len(keys) > 1 {
		if table, _ = file[keys[0]].(map[string]any); table == nil {
			table = map[string]any{}
		}
		file[keys[0]] = table
	}
	if delete(table, last); line != "" {
		_, _ = toml.Decode(toml.Key{last}.String()+" = "+line, &table) // it fits
	}
	dropEmpty(file)
}

// alone does something while no other process does so in a folder.
func alone(ctx context.Context, e *cli.Environ, own folder.Folder, do func() error) (err error) {
	hold, err := turnstile.New(own, e.Command).Acquire(ctx, turnstile.Exclusive, e.Global.Wait)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, hold.Release()) }()
	return do()
}

// editConfig gives settings values, or takes them away, while no other process does.
func editConfig(ctx context.Context, e *cli.Environ, at materialize.Location, values map[string][]string) error {
	own := folder.At(at.Store)
	return alone(ctx, e, own, func() error {
		was, err := own.ReadUpTo(cli.ConfigFile, cli.MaxConfig)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		text, err := changed(string(was), values)
		if err != nil || text == string(was) {
			return err
		}
		return own.Replace(cli.ConfigFile, []byte(text), true)
	})
}

// changed returns a configuration in which settings have other values, or none.
func changed(text string, values map[string][]string) (_ string, err error) {
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if text, err = change(text, name, values[name]); err != nil {
			return text, err
		}
	}
	return text, nil
}

// settingView is what config get prints.
type settingView struct {
	Setting string `json:"setting"`
	Value   any    `json:"value"`
}

func getSetting(_ context.Context, w *cli.Work, args []string) error {
	_, c, _, err := here(w.Environ)
	if err != nil {
		return err
	}
	_, value, err := setting(&c, args[0])
	if err != nil {
		return err
	}
	text := fmt.Sprintln(value)
	if list, ok := value.Interface().([]string); ok {
		text = strings.Join(append(list, ""), "\n")
	} else if value.Kind() == reflect.Struct {
		below := settings(args[0]+".", value)
		for i, name := range slices.Sorted(maps.Keys(below)) {
			text = strings.Repeat(text, min(i, 1)) + fmt.Sprintln(name, "=", below[name])
		}
	}
	return w.Print(settingView{args[0], value.Interface()}, "%s", text)
}

// setSetting changes a setting; without values it takes it away.
func setSetting(ctx context.Context, w *cli.Work, args []string) error {
	name, values := args[0], args[1:]
	at, err := w.Locate()
	isMissing := errors.Is(err, store.ErrNoStore)
	if isMissing {
		if _, err = change("", name, values); err == nil && len(values) > 0 {
			_, err = w.Create(ctx)
		}
	}
	if err != nil {
		return err
	}
	_, wrong := w.Config(at)
	if wrong != nil && !errors.Is(wrong, cli.ErrConfig) {
		return wrong
	}
	if !isMissing || len(values) > 0 {
		err = editConfig(ctx, w.Environ, at, map[string][]string{name: values})
	}
	if err != nil {
		return cmp.Or(wrong, err)
	}
	for _, dir := range values {
		if (name == "notes" || name == "agents") && !cli.IsThere(filepath.Join(at.Root, dir)) {
			w.Note("there is no folder %s in %s yet", cli.OneLine(dir), at.Root)
		}
	}
	switch {
	case !w.Global.JSON:
		return nil
	case len(values) == 0:
		return w.PrintJSON(settingView{name, nil})
	}
	return getSetting(ctx, w, args[:1])
}
