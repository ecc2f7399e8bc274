// SPDX-License-Identifier: Apache-2.0
public import SwiftSyntax

/// The sessions of a module: their creation, their start, and their delegates.
public struct Sessions: Sendable {
    /// The class of a session.
    public enum Kind: String, Sendable {
        /// `NFCNDEFReaderSession`.
        case ndef = "NFCNDEFReaderSession"
        /// `NFCTagReaderSession`.
        case tag = "NFCTagReaderSession"
        /// `NFCISO15693ReaderSession`, of iOS 11.
        case iso15693 = "NFCISO15693ReaderSession"
        /// `NFCVASReaderSession`.
        case vas = "NFCVASReaderSession"
        /// `NFCPaymentTagReaderSession`.
        case payment = "NFCPaymentTagReaderSession"
    }

    /// A call that creates a session.
    public struct Creation: Sendable {
        /// The class of the session.
        public var kind: Kind
        /// The index of the function that contains the call.
        public var function: Int
        /// The call.
        public var call: CallInfo
        /// The name of the variable or property that stores the session; nil if it is not stored.
        public var stored: String?

        /// The delegate argument.
        public var delegate: ExprSyntax? { call.argument("delegate") }
        /// The queue argument.
        public var queue: ExprSyntax? { call.argument("queue") }
        /// Whether callbacks run on the session's own queue.
        public var hasOwnQueue: Bool { queue == nil || queue?.is(NilLiteralExprSyntax.self) == true }
    }

    /// A type that is a delegate of sessions.
    public struct Delegate: Sendable {
        /// The type's name.
        public var type: String
        /// The classes of sessions that the type handles.
        public var kinds: Set<Kind>
        /// The indexes of the `didDetect` callbacks for tags.
        public var tags: [Int]
        /// The indexes of the `didDetectNDEFs` callbacks.
        public var messages: [Int]
        /// The indexes of the `didInvalidateWithError` callbacks.
        public var invalidation: [Int]
        /// The indexes of the `…DidBecomeActive` callbacks.
        public var activation: [Int]

        /// The indexes of all callbacks.
        public var callbacks: [Int] { tags + messages + invalidation + activation }
    }

    /// The calls that create sessions.
    public private(set) var creations: [Creation] = []
    /// The calls that begin sessions, with the index of the function.
    public private(set) var begins: [(function: Int, call: CallInfo)] = []
    /// The delegates of sessions.
    public private(set) var delegates: [Delegate] = []
    /// The names of variables, properties and parameters that store a session.
    public private(set) var names: Set<String> = []

    init(_ index: ModuleIndex) {
        for (number, function) in index.functions.enumerated() {
            for call in function.calls { note(call, number) }
            for (name, type) in zip(function.parameters, function.parameterTypes) where Self.isSession(type) {
                names.insert(name)
            }
        }
        for type in index.types.values {
            for property in type.properties where property.isSession { names.insert(property.name) }
        }
        for creation in creations { if let stored = creation.stored { names.insert(stored) } }
        for (number, function) in index.functions.enumerated() {
            for call in function.calls where call.name == "begin" && call.node.arguments.isEmpty {
                let last = call.base?.split(separator: ".").last.map(String.init) ?? ""
                let isOwn = Kind(rawValue: last) != nil
                let isNamed = names.contains(last) || !creations.isEmpty && last.lowercased().hasSuffix("session")
                if isOwn || isNamed && isSession(call.node.calledExpression.memberBase, number, index) {
                    begins.append((number, call))
                }
            }
        }
        findDelegates(index)
    }

    private static func isSession(_ type: String) -> Bool {
        type.contains("NFC") && type.contains("Session") && !type.contains("Delegate") && !type.contains("->")
    }

    /// Whether an expression is a session, judged by its type or by how it was created.
    ///
    /// - Parameters:
    ///   - expression: the expression; nil for an implicit `self`.
    ///   - number: the index of the function that contains the expression.
    ///   - index: the module.
    func isSession(_ expression: ExprSyntax?, _ number: Int, _ index: ModuleIndex, depth: Int = 0) -> Bool {
        let function = index.functions[number]
        let isType = { (type: String) -> Bool in
            let name = String(type.prefix { $0.isLetter || $0.isNumber || $0 == "_" })
            // The sessions may conform to a protocol of the app.
            let own = ["NFCReaderSession", Kind.ndef.rawValue, Kind.tag.rawValue].compactMap { index.types[$0] }
            return Self.isSession(type) || name == "CardSession" || own.contains { $0.inherited.contains(name) }
        }
        guard let node = expression?.core, node.words != "self", depth < 4 else {
            return function.owner.map(isType) ?? false
        }
        if let cast = node.as(AsExprSyntax.self) { return isType(cast.type.trimmedDescription) }
        if let call = node.as(FunctionCallExprSyntax.self) {
            let name = call.calledExpression.lastName ?? ""
            let makers = index.functions(named: name).compactMap {
                index.functions[$0].node.as(FunctionDeclSyntax.self)?.signature.returnClause?.type.trimmedDescription
            }
            return isType(call.calledExpression.words) || makers.contains(where: isType)
        }
        guard let name = node.lastName else { return false }
        let isOwn = node.memberBase.map { $0.words == "self" } ?? true
        if node.memberBase == nil {
            if let position = function.parameters.firstIndex(of: name) {
                return isType(function.parameterTypes[position])
            }
            let finder = BindingFinder(name)
            if let body = function.body { finder.walk(body) }
            if finder.isDeclared, !finder.values.isEmpty {
                return finder.values.contains { isSession($0, number, index, depth: depth + 1) }
            }
        }
        let family = isOwn ? index.family(function.owner) : []
        let properties = family.compactMap { index.types[$0] }.flatMap(\.properties).filter { $0.name == name }
        if let type = properties.lazy.compactMap(\.type).first { return isType(type) }
        let hasName = name.lowercased().hasSuffix("session") && function.file.importsCoreNFC
        return properties.contains(where: \.isSession) || names.contains(name) || hasName
    }

    private mutating func note(_ call: CallInfo, _ number: Int) {
        let name = call.name == "init" ? call.base ?? "" : call.name
        guard let kind = Kind(rawValue: name), call.base == nil || call.name == "init" else { return }
        creations.append(Creation(kind: kind, function: number, call: call, stored: Self.stored(call.node)))
    }

    /// The name of the variable that an expression is assigned to.
    static func stored(_ node: some SyntaxProtocol) -> String? {
        var node = node.parent
        while let step = node {
            if let assignment = step.as(InfixOperatorExprSyntax.self), assignment.operator.is(AssignmentExprSyntax.self)
            {
                return assignment.leftOperand.lastName
            }
            if let binding = step.as(PatternBindingSyntax.self) {
                return binding.pattern.as(IdentifierPatternSyntax.self)?.identifier.text
            }
            if let condition = step.as(OptionalBindingConditionSyntax.self) {
                return condition.pattern.as(IdentifierPatternSyntax.self)?.identifier.text
            }
            if step.is(CodeBlockItemSyntax.self) || step.is(FunctionCallExprSyntax.self)
                || step.is(ClosureExprSyntax.self)
            {
                return nil
            }
            node = step.parent
        }
        return nil
    }

    private mutating func findDelegates(_ index: ModuleIndex) {
        let protocols: [(String, Kind)] = [
            ("NFCNDEFReaderSessionDelegate", .ndef), ("NFCTagReaderSessionDelegate", .tag),
            ("NFCVASReaderSessionDelegate", .vas), ("NFCPaymentTagReaderSessionDelegate", .payment),
        ]
        for type in index.types.values.sorted(by: { $0.name < $1.name }) {
            var delegate = Delegate(
                type: type.name,
                kinds: [],
                tags: [],
                messages: [],
                invalidation: [],
                activation: []
            )
            for (name, kind) in protocols where type.inherited.contains(name) { delegate.kinds.insert(kind) }
            for number in type.functions where index.functions[number].body != nil {
                let function = index.functions[number]
                switch (function.name, function.labels.last) {
                case ("readerSession", "didDetect"), ("tagReaderSession", "didDetect"): delegate.tags.append(number)
                case ("readerSession", "didDetectNDEFs"): delegate.messages.append(number)
                case ("readerSession", "didInvalidateWithError"), ("tagReaderSession", "didInvalidateWithError"):
                    delegate.invalidation.append(number)
                case ("readerSessionDidBecomeActive", _), ("tagReaderSessionDidBecomeActive", _):
                    delegate.activation.append(number)
                default: continue
                }
                if delegate.kinds.isEmpty || function.name.hasPrefix("tagReader") {
                    delegate.kinds.insert(function.name.hasPrefix("tagReader") ? .tag : .ndef)
                }
            }
            if type.kind != "protocol", !delegate.callbacks.isEmpty { delegates.append(delegate) }
        }
    }

    /// Whether all sessions are for payment cards, which need their own entitlement. False if there are no sessions.
    public var isOnlyPayment: Bool { !creations.isEmpty && creations.allSatisfy { $0.kind == .payment } }

    /// The delegate with a type's name; nil if the type is not a delegate.
    public func delegate(_ type: String?) -> Delegate? { delegates.first { $0.type == type } }

    /// Whether an expression is the name of a session.
    public func isSession(_ expression: ExprSyntax) -> Bool {
        guard let name = expression.lastName else { return false }
        return names.contains(name)
    }

    /// Whether the base of a call is probably a session.
    public func isSession(base: String?) -> Bool {
        guard let last = base?.split(separator: ".").last.map(String.init) else { return false }
        return names.contains(last) || last.lowercased().hasSuffix("session")
    }
}
