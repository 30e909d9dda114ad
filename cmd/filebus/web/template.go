package web

import (
	"bytes"
	"fmt"
	"io/fs"
	"maps"
	"reflect"
	"slices"
	"strings"
	"text/template/parse"
)

// Templates are pages with what they show, in the syntax of package text/template: fields, keys, variables, functions,
// pipelines, if, with, range and template. No methods are called. What they show is escaped by [rendering.show].
//
// Package text/template itself calls methods by their names, for which the linker has to keep every method of the program:
// 5 MB of it. Its parser does not.
type templates struct {
	trees     map[string]*parse.Tree
	functions map[string]any
}

// parseTemplates reads templates of the program.
func parseTemplates(files fs.FS, pattern string, functions map[string]any) *templates {
	t := &templates{map[string]*parse.Tree{}, functions}
	maps.Copy(functions, basics)
	names, err := fs.Glob(files, pattern)
	for i := 0; err == nil && i < len(names); i++ {
		var text []byte
		if text, err = fs.ReadFile(files, names[i]); err == nil {
			_, err = parse.New(names[i]).Parse(string(text), "", "", t.trees, functions)
		}
	}
	if err != nil {
		panic(err)
	}
	return t
}

// basics are the functions that package text/template has, too.
var basics = map[string]any{
	"and": true, "or": true, // these are part of the language
	"not":    func(v any) bool { return !isTrue(reflect.ValueOf(v)) },
	"eq":     func(v, other any) bool { return fmt.Sprint(v) == fmt.Sprint(other) },
	"ne":     func(v, other any) bool { return fmt.Sprint(v) != fmt.Sprint(other) },
	"lt":     func(a, b float64) bool { return a < b },
	"gt":     func(a, b float64) bool { return a > b },
	"len":    func(v any) int { return reflect.ValueOf(v).Len() },
	"index":  indexed,
	"printf": fmt.Sprintf,
}

// indexed returns an element of a list, or what a key stands for.
func indexed(of, key any) any {
	v := reflect.ValueOf(of)
	if v.Kind() == reflect.Map {
		if v = v.MapIndex(reflect.ValueOf(key)); !v.IsValid() {
			return nil
		}
		return v.Interface()
	}
	return v.Index(key.(int)).Interface()
}

// A rendering is one execution of a template. Mistakes in templates are panics.
type rendering struct {
	*templates
	out  *bytes.Buffer
	open string // the value of an attribute, as far as it is written
	vars []variable
}

type variable struct {
	name  string
	value reflect.Value
}

// execute writes a template.
func (t *templates) execute(out *bytes.Buffer, name string, data any) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("template %s: %v", name, p)
		}
	}()
	(&rendering{templates: t, out: out}).call(name, reflect.ValueOf(data))
	return nil
}

func (r *rendering) call(name string, dot reflect.Value) {
	vars := r.vars
	r.vars = []variable{{"$", dot}}
	r.walk(dot, r.trees[name].Root)
	r.vars = vars
}

func (r *rendering) walk(dot reflect.Value, node parse.Node) {
	switch n := node.(type) {
	case *parse.ListNode:
		for _, child := range n.Nodes {
			r.walk(dot, child)
		}
	case *parse.TextNode:
		r.markup(string(n.Text))
	case *parse.ActionNode:
		if v := r.pipe(dot, n.Pipe); len(n.Pipe.Decl) > 0 {
			r.declare(n.Pipe, v)
		} else {
			r.show(v)
		}
	case *parse.IfNode:
		r.branch(dot, &n.BranchNode, func(reflect.Value) { r.walk(dot, n.List) })
	case *parse.WithNode:
		r.branch(dot, &n.BranchNode, func(v reflect.Value) { r.walk(v, n.List) })
	case *parse.RangeNode:
		r.branch(dot, &n.BranchNode, func(v reflect.Value) { r.each(v, n) })
	case *parse.TemplateNode:
		var v reflect.Value
		if n.Pipe != nil {
			v = r.pipe(dot, n.Pipe)
		}
		r.call(n.Name, v)
	default:
		panic(fmt.Sprintf("%s is not understood", node))
	}
}

// branch does what is to be done with a value, if it is true.
func (r *rendering) branch(dot reflect.Value, n *parse.BranchNode, do func(v reflect.Value)) {
	mark := len(r.vars)
	v := r.pipe(dot, n.Pipe)
	if n.NodeType != parse.NodeRange {
		r.declare(n.Pipe, v)
	}
	if isTrue(v) {
		do(v)
	} else if n.ElseList != nil {
		r.walk(dot, n.ElseList)
	}
	r.vars = r.vars[:mark]
}

// each walks over the elements of a list, over the sorted keys of a map, or so many times.
func (r *rendering) each(v reflect.Value, n *parse.RangeNode) {
	mark := len(r.vars)
	one := func(key, element reflect.Value) {
		values := []reflect.Value{key, element}
		for i, d := range n.Pipe.Decl {
			r.vars = append(r.vars, variable{d.Ident[0], values[2-len(n.Pipe.Decl)+i]})
		}
		r.walk(element, n.List)
		r.vars = r.vars[:mark]
	}
	v = plainOf(v)
	if v.Kind() == reflect.Map {
		keys := v.MapKeys()
		slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) })
		for _, key := range keys {
			one(key, v.MapIndex(key))
		}
		return
	}
	for i := range v.Len() {
		one(reflect.ValueOf(i), v.Index(i))
	}
}

func (r *rendering) declare(p *parse.PipeNode, v reflect.Value) {
	for _, d := range p.Decl {
		if i := len(r.vars) - 1; p.IsAssign {
			for r.vars[i].name != d.Ident[0] { // the parser knows it
				i--
			}
			r.vars[i].value = v
			continue
		}
		r.vars = append(r.vars, variable{d.Ident[0], v})
	}
}

// pipe returns the value of what stands between brackets, which is one command.
func (r *rendering) pipe(dot reflect.Value, p *parse.PipeNode) reflect.Value {
	args := p.Cmds[0].Args
	if name, isCall := args[0].(*parse.IdentifierNode); isCall {
		return r.apply(dot, name.Ident, args[1:])
	}
	if len(args) > 1 || len(p.Cmds) > 1 {
		panic(fmt.Sprintf("%s is no function", args[0]))
	}
	return r.value(dot, args[0])
}

func (r *rendering) value(dot reflect.Value, node parse.Node) reflect.Value {
	switch n := node.(type) {
	case *parse.DotNode:
		return dot
	case *parse.FieldNode:
		return fieldOf(dot, n.Ident)
	case *parse.VariableNode:
		for _, v := range slices.Backward(r.vars) {
			if v.name == n.Ident[0] {
				return fieldOf(v.value, n.Ident[1:])
			}
		}
	case *parse.ChainNode:
		return fieldOf(r.value(dot, n.Node), n.Field)
	case *parse.PipeNode:
		return r.pipe(dot, n)
	case *parse.IdentifierNode:
		return r.apply(dot, n.Ident, nil)
	case *parse.StringNode:
		return reflect.ValueOf(n.Text)
	case *parse.NumberNode:
		if n.IsInt {
			return reflect.ValueOf(int(n.Int64))
		}
		return reflect.ValueOf(n.Float64)
	}
	panic(fmt.Sprintf("%s is not understood", node))
}

// apply calls a function.
func (r *rendering) apply(dot reflect.Value, name string, nodes []parse.Node) (v reflect.Value) {
	if name == "and" || name == "or" {
		for _, n := range nodes {
			if v = r.value(dot, n); isTrue(v) == (name == "or") {
				break
			}
		}
		return v
	}
	f := reflect.ValueOf(r.functions[name])
	args := make([]reflect.Value, len(nodes))
	for i, n := range nodes {
		args[i] = fit(r.value(dot, n), f.Type(), i)
	}
	return f.Call(args)[0]
}

// fit returns an argument as a function takes it.
func fit(arg reflect.Value, f reflect.Type, i int) reflect.Value {
	t := f.In(min(i, f.NumIn()-1))
	if f.IsVariadic() && i >= f.NumIn()-1 {
		t = t.Elem()
	}
	if arg.Kind() == reflect.Interface {
		arg = arg.Elem()
	}
	switch {
	case !arg.IsValid():
		return reflect.Zero(t)
	case arg.Type().AssignableTo(t):
		return arg
	}
	return plainOf(arg).Convert(t)
}

// fieldOf follows fields and keys. What is behind nothing is nothing.
func fieldOf(v reflect.Value, names []string) reflect.Value {
	for _, name := range names {
		switch v = plainOf(v); v.Kind() {
		case reflect.Invalid:
			return v
		case reflect.Map:
			v = v.MapIndex(reflect.ValueOf(name))
		default:
			if v = v.FieldByName(name); !v.IsValid() {
				panic("there is no field " + name)
			}
		}
	}
	return v
}

// plainOf returns what a value points to.
func plainOf(v reflect.Value) reflect.Value {
	for v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface {
		v = v.Elem()
	}
	return v
}

// isTrue reports whether there is something: no empty list, text, number or pointer.
func isTrue(v reflect.Value) bool {
	if v.Kind() == reflect.Interface {
		v = v.Elem()
	}
	switch v.Kind() {
	case reflect.Slice, reflect.Map:
		return v.Len() > 0
	case reflect.Struct:
		return true
	}
	return v.IsValid() && !v.IsZero()
}
