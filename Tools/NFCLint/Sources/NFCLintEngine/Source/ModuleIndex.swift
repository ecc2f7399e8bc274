// SPDX-License-Identifier: Apache-2.0
public import SwiftSyntax

/// All types and functions of a module, and the calls between them, resolved by name.
public struct ModuleIndex: Sendable {
    /// The functions.
    public private(set) var functions: [FunctionInfo] = []
    /// The types by name, including their extensions.
    public private(set) var types: [String: TypeInfo] = [:]
    /// Constants and variables outside types.
    public private(set) var globals: [PropertyInfo] = []
    /// The imported modules.
    public private(set) var imports: Set<String> = []
    /// The files.
    public private(set) var files: [SourceFile] = []
    private var named: [String: [Int]] = [:]
    /// The functions of each type by name; those outside types have an empty type.
    private var members: [String: [String: [Int]]] = [:]
    /// The functions by their syntax nodes.
    private var numbers: [SyntaxIdentifier: Int] = [:]
    /// For each function, the functions that it calls, the properties that it uses, and its callers.
    private var called: [[Int]] = []
    private var used: [[Int]] = []
    private var calling: [[Int]] = []
    /// The families of types: each type with its supertypes and subtypes.
    private var families: [String: Set<String>] = [:]
    /// The classes related by inheritance, directly or indirectly. All classes of a chain share one set.
    private var chains: [String: Set<String>] = [:]
    /// The types of properties, by the types that contain them; global variables have an empty type.
    private var propertyTypes: [String: [String: String]] = [:]

    init(_ facts: [FileFacts]) {
        for fact in facts {
            let offset = functions.count
            files.append(fact.file)
            functions += fact.functions
            globals += fact.globals
            imports.formUnion(fact.imports)
            for type in fact.types { merge(type, offset) }
        }
        for (number, function) in functions.enumerated() {
            named[function.name, default: []].append(number)
            members[function.owner ?? "", default: [:]][function.name, default: []].append(number)
            numbers[function.node.id] = number
            if function.kind == .property, let binding = function.node.as(VariableDeclSyntax.self)?.bindings.first {
                let declared = binding.typeAnnotation.map { Self.plain($0.type.trimmedDescription) }
                let type = declared ?? binding.initializer.flatMap { Self.created($0.value) }
                if let type { propertyTypes[function.owner ?? "", default: [:]][function.name] = type }
            }
        }
        for type in types.values {
            for parent in type.inherited where types[parent] != nil {
                families[type.name, default: []].insert(parent)
                families[parent, default: []].insert(type.name)
            }
        }
        link()
        connect()
    }

    /// A type's name, without module, optionality and generic arguments; empty for arrays, closures and the like.
    static func plain(_ type: String) -> String {
        guard !type.contains("["), !type.contains("->") else { return "" }
        let words = type.split { !($0.isLetter || $0.isNumber || $0 == "_" || $0 == ".") }
        let name = words.first { !["any", "some", "inout"].contains($0) }
        return name?.split(separator: ".").last.map(String.init) ?? ""
    }

    /// The type that a call creates, or whose shared object an expression names; nil if unknown.
    static func created(_ value: ExprSyntax) -> String? {
        let node = value.core
        let call = node.as(FunctionCallExprSyntax.self)?.calledExpression.core
        let owner = (call ?? node).as(MemberAccessExprSyntax.self)
        let isOfType = owner?.declName.baseName.text == (call == nil ? "shared" : "init")
        let name = isOfType ? owner?.base?.lastName : call?.as(DeclReferenceExprSyntax.self)?.baseName.text
        return name?.first?.isUppercase == true ? name : nil
    }

    /// Resolves all calls and properties once, because many rules follow them.
    private mutating func connect() {
        calling = Array(repeating: [], count: functions.count)
        for (number, function) in functions.enumerated() {
            var targets: Set<Int> = []
            for call in function.calls { targets.formUnion(self.targets(of: call, in: function)) }
            called.append(targets.sorted())
            used.append(properties(number))
            for target in targets where target != number { calling[target].append(number) }
        }
    }

    private mutating func merge(_ type: TypeInfo, _ offset: Int) {
        let empty = TypeInfo(
            name: type.name,
            kind: "",
            inherited: [],
            marks: [],
            properties: [],
            cases: [],
            functions: []
        )
        // Changed in place, because a type can have thousands of extensions.
        types[type.name, default: empty].add(type, offset)
    }

    /// A type with its supertypes and subtypes in the module.
    public func family(_ name: String?) -> Set<String> {
        guard let name else { return [] }
        let own = chains[name] ?? [name]
        // Types with a common protocol form a family only if the protocol itself is queried.
        let near = (families[name] ?? []).filter { types[$0]?.kind == "protocol" || types[name]?.kind == "protocol" }
        guard !near.isEmpty else { return own }
        return near.reduce(into: own) { $0.formUnion(types[$1]?.kind == "protocol" ? [$1] : chains[$1] ?? [$1]) }
    }

    /// Computes the inheritance chains in advance, because many calls need them.
    private mutating func link() {
        for start in families.keys where chains[start] == nil && types[start]?.kind != "protocol" {
            var chain: Set<String> = [start]
            var open = [start]
            while let next = open.popLast() {
                for other in families[next] ?? []
                where types[other]?.kind != "protocol" && chain.insert(other).inserted {
                    open.append(other)
                }
            }
            for name in chain { chains[name] = chain }
        }
    }

    /// The indexes of the functions with a name.
    public func functions(named name: String) -> [Int] { named[name] ?? [] }

    /// The index of the function with a syntax node; nil if it is not a function.
    func number(_ node: SyntaxIdentifier) -> Int? { numbers[node] }

    /// The indexes of the functions that a call may refer to, judged by its labels and the type of its receiver.
    public func targets(of call: CallInfo, in function: FunctionInfo) -> [Int] {
        if let created = types[call.name], call.base == nil {
            return created.functions.filter { functions[$0].kind == .initializer }
        }
        guard let all = named[call.name] else { return [] }
        let base = call.base ?? ""
        let isOwn = ["self", "Self", "super", ""].contains(base)
        guard let type = isOwn ? function.owner ?? "" : receiver(base, in: function) else {
            // With an unknown receiver, a name that several types use says nothing.
            let found = all.prefix(20).filter { fits(call, $0) }
            return Set(found.map { functions[$0].owner }).count <= 2 ? found : []
        }
        let found = type.isEmpty ? [] : memberFunctions(call.name, of: family(type), among: all)
        let free = isOwn && base != "super" ? members[""]?[call.name] ?? [] : []
        return (found + free).filter { fits(call, $0) && !(base == "super" && functions[$0].owner == type) }.sorted()
    }

    /// The functions with a name in some types. Looks through the shorter list, because both can be very long.
    private func memberFunctions(_ name: String, of types: Set<String>, among all: [Int]) -> [Int] {
        types.count < all.count
            ? types.flatMap { members[$0]?[name] ?? [] } : all.filter { types.contains(functions[$0].owner ?? "") }
    }

    /// The type of a receiver such as `self.reader` or `Reader.shared`; nil if unknown.
    private func receiver(_ base: String, in function: FunctionInfo) -> String? {
        var type: String?
        for (position, part) in base.split(separator: ".").map(String.init).enumerated() {
            if types[part] != nil {
                type = part
            } else if position > 0 {
                guard let outer = type, types[outer] != nil else { return nil }
                // A shared object has its class's type.
                type = property(part, of: outer) ?? (part == "shared" ? outer : nil)
            } else if ["self", "Self"].contains(part) {
                type = function.owner
            } else if let parameter = function.parameters.firstIndex(of: part) {
                type = Self.plain(function.parameterTypes[parameter])
            } else {
                type =
                    function.locals[part] ?? property(part, of: function.owner ?? "")
                    ?? propertyTypes[""]?[part] ?? (part.first?.isUppercase == true ? part : nil)
            }
            if type == nil { return nil }
        }
        return type
    }

    /// The type of a property of a type or its supertypes; nil if unknown.
    private func property(_ name: String, of type: String) -> String? {
        propertyTypes[type]?[name] ?? family(type).lazy.compactMap { propertyTypes[$0]?[name] }.first
    }

    /// Whether a call's arguments match the parameters of a function. Trailing closures match any parameters.
    private func fits(_ call: CallInfo, _ number: Int) -> Bool {
        let function = functions[number]
        guard function.kind == .function else { return false }
        let trailing = (call.node.trailingClosure == nil ? 0 : 1) + call.node.additionalTrailingClosures.count
        var arguments = call.labels[...]
        var open = 0
        var required = 0
        for (position, (label, hasDefault)) in zip(function.labels, function.defaults).enumerated() {
            if arguments.first == label {
                arguments.removeFirst()
                // A variadic parameter takes more values.
                let isLast = !function.labels[(position + 1)...].contains("_")
                while hasDefault, isLast, arguments.first == "_" { arguments.removeFirst() }
            } else {
                open += 1
                required += hasDefault ? 0 : 1
            }
        }
        return arguments.isEmpty && required <= trailing && trailing <= open
    }

    /// A function and all functions that it may reach in the module through calls and properties.
    public func reach(_ start: Int, depth: Int = 6) -> [Int] {
        var seen: Set<Int> = [start]
        var order = [start]
        var level = [start]
        for _ in 0..<depth where !level.isEmpty {
            var next: [Int] = []
            for number in level {
                for target in called[number] + used[number] where seen.insert(target).inserted {
                    next.append(target)
                    order.append(target)
                }
            }
            level = next
        }
        return order
    }

    /// The properties with code that a function uses: its own, global ones, and those of types that it mentions.
    private func properties(_ number: Int) -> [Int] {
        let function = functions[number]
        let owners = family(function.owner).union(function.names.filter { types[$0] != nil }).union([""])
        return function.names.flatMap { name -> [Int] in
            guard let all = named[name] else { return [] }
            let isSet = { function.assignments.contains { $0.name == name } }
            return memberFunctions(name, of: owners, among: all).filter { other in
                functions[other].kind == .property && other != number && (!functions[other].isObserver || isSet())
            }
        }.sorted()
    }

    /// The functions that may call a function directly.
    public func callers(_ number: Int) -> [Int] { calling[number] }

    /// The values that callers pass for a parameter of a function.
    public func arguments(_ position: Int, of number: Int) -> [(value: ExprSyntax, call: CallInfo, caller: Int)] {
        let label = functions[number].labels[position]
        // Values without a label are told apart by their order.
        let order = label == "_" ? functions[number].labels.prefix(position).count { $0 == "_" } : 0
        return callers(number).flatMap { caller in
            let calls = functions[caller].calls.filter { targets(of: $0, in: functions[caller]).contains(number) }
            return calls.compactMap { call in
                let same = call.node.arguments.filter { ($0.label?.text ?? "_") == label }.map(\.expression)
                return order < same.count ? (same[order], call, caller) : nil
            }
        }
    }

    /// A function and all functions that may reach it through calls.
    public func allCallers(_ start: Int, depth: Int = 4) -> [Int] {
        var seen: Set<Int> = [start]
        var order = [start]
        var level = [start]
        for _ in 0..<depth where !level.isEmpty {
            var next: [Int] = []
            for number in level {
                for caller in callers(number) where seen.insert(caller).inserted {
                    next.append(caller)
                    order.append(caller)
                }
            }
            level = next
        }
        return order
    }
}

extension TypeInfo {
    /// Adds another declaration or an extension.
    fileprivate mutating func add(_ type: TypeInfo, _ offset: Int) {
        if kind.isEmpty { kind = type.kind }
        inherited += type.inherited
        marks += type.marks
        properties += type.properties
        cases += type.cases
        functions += type.functions.map { $0 + offset }
        declaration = declaration ?? type.declaration
    }
}
