package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"

	"filebus/materialize"
	"filebus/materialize/likeness"
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
			delete(all, name)
			maps.Copy(all, settings(name+".", table.Field(i)))
		}
	}
	return all
}

// setting returns the keys that lead to a setting, and its value.
func (c *config) setting(name string) (toml.Key, reflect.Value, error) {
	all := settings("", reflect.ValueOf(c).Elem())
	table, key, _ := strings.Cut(name, ".")
	if entries := all[table]; key != "" && entries.Kind() == reflect.Map { // the user names its keys
		key = strings.Trim(key, `"'`)
		if value := entries.MapIndex(reflect.ValueOf(key)); value.IsValid() {
			return toml.Key{table, key}, value, nil
		}
		return toml.Key{table, key}, reflect.Zero(entries.Type().Elem()), nil
	}
	slips := func(known string) int {
		if strings.HasPrefix(known, name+".") {
			return 1 // a setting of the table
		}
		return likeness.Slips(known, name)
	}
	names := slices.Sorted(maps.Keys(all))
	near := slices.MinFunc(names, func(a, b string) int { return slips(a) - slips(b) })
	if near != name {
		return nil, reflect.Value{}, usageError("there is no setting %q; the nearest is %s, of %s",
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
	if table := keys[:len(keys)-1]; len(table) > 0 {
		head := regexp.MustCompile(`(?m)^[ \t]*\[` + regexp.QuoteMeta(table.String()) + `\][^\n]*(?:\n|\z)`)
		if head.FindStringIndex(text) == nil && value != "" {
			text += end + "[" + table.String() + "]" + end
			stop = len(text)
		}
		start = append(head.FindStringIndex(text), stop, stop)[1]
	}
	if next := regexp.MustCompile(`(?m)^[ \t]*\[`).FindStringIndex(text[start:]); next != nil {
		stop = start + next[0]
	}
	key, part := keys[len(keys)-1:].String(), text[start:stop]
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
// error if they are wrong, or if more would change.
func change(text, name string, values []string) (string, error) {
	var wanted, got config
	err := wanted.parse(text)
	keys, value, nameErr := wanted.setting(name)
	if err = cmp.Or(err, nameErr); err != nil {
		return "", err
	}
	line := literal(value.Kind(), values)
	if value.CanSet() {
		value.SetZero()
	} else if _, entries, _ := wanted.setting(keys[0]); line == "" {
		entries.SetMapIndex(reflect.ValueOf(keys[1]), reflect.Value{})
	}
	if _, err := toml.Decode(keys.String()+" = "+line, &wanted); err != nil && line != "" {
		return "", usageError("%s takes a value of type %s, and not %s", name, value.Kind(), line)
	}
	if err := wanted.parse(""); err != nil { // which checks the values
		return "", coded(record.Usage, "", err)
	}
	after := edited(text, keys, line)
	if err := got.parse(after); err != nil || !reflect.DeepEqual(got, wanted) {
		return "", fmt.Errorf("%s cannot be changed by itself in %s; edit the file by hand", name, configFile)
	}
	return after, nil
}

// editConfig gives settings values, or takes them away, while no other process does.
func (e *environ) editConfig(ctx context.Context, at materialize.Location, values map[string][]string) (err error) {
	own := folder.At(at.Store)
	hold, err := turnstile.New(own, e.command).Acquire(ctx, turnstile.Exclusive, e.global.wait)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, hold.Release()) }()
	was, err := own.ReadUpTo(configFile, maxConfig)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	text := string(was)
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if text, err = change(text, name, values[name]); err != nil {
			return err
		}
	}
	if text == string(was) {
		return nil
	}
	return own.Replace(configFile, []byte(text), true)
}

// settingView is what config get prints.
type settingView struct {
	Setting string `json:"setting"`
	Value   any    `json:"value"`
}

func getSetting(_ context.Context, w *workspace, args []string) error {
	_, c, _, err := w.here()
	if err != nil {
		return err
	}
	_, value, err := c.setting(args[0])
	if err != nil {
		return err
	}
	text := fmt.Sprintln(value)
	if list, ok := value.Interface().([]string); ok {
		text = strings.Join(append(list, ""), "\n")
	}
	return w.print(settingView{args[0], value.Interface()}, "%s", text)
}

// setSetting changes a setting; without values it takes it away.
func setSetting(ctx context.Context, w *workspace, args []string) error {
	if _, err := change("", args[0], args[1:]); err != nil {
		return err // before a store is made
	}
	w, err := w.create(ctx)
	if err != nil {
		return err
	}
	return w.editConfig(ctx, w.Location, map[string][]string{args[0]: args[1:]})
}
