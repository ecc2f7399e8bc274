// SPDX-License-Identifier: Apache-2.0
import NFCLintEngine
import SwiftSyntax

extension Rule {
    static let restartedSession = Rule(
        id: "SRC008",
        severity: .error,
        title: "A session that has ended is begun again",
        why: "begin() on an invalidated session does nothing: no sheet appears, and no callback runs.",
        fix: "Create a new session for each scan.",
        bad: [
            .delegate(
                """
                func again() {
                    session?.invalidate()
                    session?.begin()
                }
                """
            ),
            .swift(
                """
                class Reader: NSObject, NFCNDEFReaderSessionDelegate {
                    lazy var session = NFCNDEFReaderSession(delegate: self, queue: nil, invalidateAfterFirstRead: true)
                    func scan() { session.begin() }
                }
                """
            ),
            .swift(
                """
                class Reader: NSObject, NFCNDEFReaderSessionDelegate {
                    private var session: NFCNDEFReaderSession?
                    override init() {
                        super.init()
                        session = NFCNDEFReaderSession(delegate: self, queue: nil, invalidateAfterFirstRead: true)
                    }
                    func start() { session?.begin() }
                }
                class Screen: UIViewController {
                    private var reader: Reader?
                    override func viewDidLoad() { configure() }
                    func configure() { reader = Reader() }
                }
                """
            ),
        ],
        good: [
            .ending("self.session = nil"),
            .swift(
                """
                class Reader: NSObject, NFCTagReaderSessionDelegate {
                    private var session: NFCTagReaderSession!
                    init?(texts: [String]) {
                        super.init()
                        guard let session = NFCTagReaderSession(pollingOption: .iso14443, delegate: self) else { return nil }
                        self.session = session
                    }
                    func start() { session.begin() }
                }
                """
            ),
        ],
        check: { unit, findings in
            for (number, call) in unit.sessions.begins where unit.isOwn(unit.index.functions[number]) {
                guard let base = call.node.calledExpression.memberBase, let name = base.lastName else { continue }
                let place = unit.place(call.node, number)
                if isInvalidatedBefore(call.node, base) {
                    findings.add(place, "\(name) was invalidated just before, so begin() does nothing.")
                    continue
                }
                let function = unit.index.functions[number]
                guard function.kind == .function, !function.assignments.contains(where: { $0.name == name }) else {
                    continue
                }
                let family = unit.index.family(function.owner)
                let properties = family.compactMap { unit.index.types[$0] }.flatMap(\.properties).filter {
                    $0.name == name
                }
                guard let property = properties.first, property.isSession else { continue }
                let own = family.compactMap { unit.index.types[$0] }.flatMap(\.functions).map {
                    unit.index.functions[$0]
                }
                let setters = own.filter { setter in
                    setter.assignments.contains { $0.name == name && !$0.isNil }
                }
                let isMade = property.value != nil && property.value?.is(NilLiteralExprSyntax.self) != true
                // Initializers and functions that load a screen run only once.
                let isSetOnce = setters.allSatisfy {
                    $0.kind == .initializer || ["viewDidLoad", "awakeFromNib"].contains($0.name)
                }
                // If the initializer creates the session, there may be a new object for each scan.
                guard isMade || isKept(function.owner, unit) || !setters.allSatisfy({ $0.kind == .initializer }) else {
                    continue
                }
                guard isSetOnce, isMade != !setters.isEmpty, !["viewDidLoad", "awakeFromNib"].contains(function.name)
                else { continue }
                let text =
                    """
                    \(name) is created once, but begun for every scan. After the first scan begin() does nothing. \
                    Unconfirmed.
                    """
                findings.add(place, text, severity: .warning, isProven: false)
            }
        }
    )
    /// Whether an object of a type is created once and kept as long as the app or a screen.
    private static func isKept(_ owner: String?, _ unit: Unit) -> Bool {
        owner.map(unit.createdTypes.kept.contains) ?? false
    }

    /// Whether an earlier statement of the block invalidates the session, and no later one creates a new session.
    private static func isInvalidatedBefore(_ node: FunctionCallExprSyntax, _ base: ExprSyntax) -> Bool {
        guard let item = node.enclosing(CodeBlockItemSyntax.self),
            let list = item.parent?.as(CodeBlockItemListSyntax.self),
            let position = list.firstIndex(where: { $0.id == item.id })
        else {
            return false
        }
        guard item.item.as(ExprSyntax.self)?.core.id == node.id else { return false }
        for statement in list[..<position].reversed() {
            let text = statement.trimmedDescription
            if text == "\(base.words).invalidate()" || text == "\(base.words)?.invalidate()"
                || text == "\(base.words)!.invalidate()"
            {
                return true
            }
            let isPlain =
                statement.item.as(ExprSyntax.self)?.core.as(FunctionCallExprSyntax.self).map {
                    Names.isQuiet($0.calledExpression.lastName ?? "")
                } == true
            if !isPlain { return false }
        }
        return false
    }
}
