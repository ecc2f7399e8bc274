// SPDX-License-Identifier: Apache-2.0
import SwiftSyntax

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
    private var calledBy: [String: [Int]] = [:]
    /// The families of types: each type with its supertypes and subtypes.
    private var families: [String: Set<String>] = [:]
    /// The classes related by inheritance, directly or indirectly. All classes of a chain share one set.
    private var chains: [String: Set<String>] = [:]
    private var propertyTypes: [String: Set<String>] = [:]

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
            for name in Set(function.calls.map(\.name)) { calledBy[name, default: []].append(number) }
        }
        for type in types.values {
            for parent in type.inherited where types[parent] != nil {
                families[type.name, default: []].insert(parent)
                families[parent, default: []].insert(type.name)
            }
            for property in type.properties {
                guard let text = property.type ?? property.value.flatMap(Self.created) else { continue }
                let plain = text.prefix { $0.isLetter || $0.isNumber || $0 == "_" }
                propertyTypes[property.name, default: []].insert(String(plain))
            }
        }
        link()
    }

    private static func created(_ value: ExprSyntax) -> String? {
        value.core.as(FunctionCallExprSyntax.self)?.calledExpression.as(DeclReferenceExprSyntax.self)?.baseName.text
    }

    private mutating func merge(_ type: TypeInfo, _ offset: Int) {
        var merged =
            types[type.name]
            ?? TypeInfo(
                name: type.name,
                kind: "",
                inherited: [],
                marks: [],
                properties: [],
                cases: [],
                functions: []
            )
        if merged.kind.isEmpty { merged.kind = type.kind }
        merged.inherited += type.inherited
        merged.marks += type.marks
        merged.properties += type.properties
        merged.cases += type.cases
        merged.functions += type.functions.map { $0 + offset }
        merged.declaration = merged.declaration ?? type.declaration
        types[type.name] = merged
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

    /// The indexes of the functions that a call may refer to.
    public func targets(of call: CallInfo, in function: FunctionInfo) -> [Int] {
        if let created = types[call.name], call.base == nil {
            return created.functions.filter { functions[$0].kind == .initializer }
        }
        let candidates = (named[call.name] ?? []).filter {
            functions[$0].kind == .function && Self.fits(call, functions[$0])
        }
        guard !candidates.isEmpty else { return [] }
        guard let base = call.base, !["self", "super", "Self", ""].contains(base) else {
            let family = family(function.owner)
            return candidates.filter { number in
                guard let owner = functions[number].owner else { return call.base != "super" }
                return family.contains(owner) && !(call.base == "super" && owner == function.owner)
            }
        }
        let last = base.split(separator: ".").last.map(String.init) ?? base
        if types[last] != nil {
            let family = family(last)
            return candidates.filter { functions[$0].owner.map(family.contains) ?? false }
        }
        if let known = propertyTypes[last]?.filter({ types[$0] != nil }), !known.isEmpty {
            let families = known.reduce(into: Set<String>()) { $0.formUnion(family($1)) }
            return candidates.filter { functions[$0].owner.map(families.contains) ?? false }
        }
        return candidates
    }

    private static func fits(_ call: CallInfo, _ function: FunctionInfo) -> Bool {
        let trailing = (call.node.trailingClosure == nil ? 0 : 1) + call.node.additionalTrailingClosures.count
        let labels = call.labels
        guard labels.count + trailing <= function.labels.count else { return false }
        return labels.allSatisfy { $0 == "_" || function.labels.contains($0) }
    }

    /// A function and all functions that it may reach in the module through calls and properties.
    public func reach(_ start: Int, depth: Int = 6) -> [Int] {
        var seen: Set<Int> = [start]
        var order = [start]
        var level = [start]
        for _ in 0..<depth where !level.isEmpty {
            var next: [Int] = []
            for number in level {
                for target in callees(number) where seen.insert(target).inserted {
                    next.append(target)
                    order.append(target)
                }
            }
            level = next
        }
        return order
    }

    private func callees(_ number: Int) -> [Int] {
        let function = functions[number]
        var result = function.calls.flatMap { targets(of: $0, in: function) }
        let family = family(function.owner)
        for name in function.names {
            for other in named[name] ?? [] where functions[other].kind == .property && other != number {
                guard let owner = functions[other].owner else {
                    result.append(other)
                    continue
                }
                if family.contains(owner) || function.names.contains(owner) { result.append(other) }
            }
        }
        return result
    }

    /// The functions that may call a function directly.
    public func callers(_ number: Int) -> [Int] {
        let target = functions[number]
        let name = target.kind == .initializer ? target.owner ?? "" : target.name
        return (calledBy[name] ?? []).filter { caller in
            caller != number
                && functions[caller].calls.contains { call in
                    call.name == name && targets(of: call, in: functions[caller]).contains(number)
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
