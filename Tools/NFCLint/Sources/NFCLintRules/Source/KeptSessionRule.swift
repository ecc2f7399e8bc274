// SPDX-License-Identifier: Apache-2.0
import NFCLintEngine
import SwiftSyntax

extension Rule {
    static let keptSession = Rule(
        id: "SRC003",
        severity: .warning,
        title: "The stored session is not set to nil when it ends",
        why: """
            A session that has ended can't start again. If it stays stored, code may call begin() on it by mistake, \
            or not create a new one.
            """,
        fix: "Set the property to nil in didInvalidateWithError.",
        bad: [
            .ending("print(error)"),
            .swift(
                """
                class Reader: NSObject, NFCTagReaderSessionDelegate, NFCVASReaderSessionDelegate {
                    var session: NFCTagReaderSession?
                    var passes: NFCVASReaderSession?
                    func scan() { passes = NFCVASReaderSession(vasCommandConfigurations: [], delegate: self, queue: nil) }
                    func tagReaderSession(_ session: NFCTagReaderSession, didInvalidateWithError error: any Error) {
                        self.session = nil
                    }
                    func readerSession(_ session: NFCVASReaderSession, didInvalidateWithError error: any Error) { print(error) }
                }
                """
            ),
            .objective(
                """
                - (void)scan {
                    self.session = [[NFCNDEFReaderSession alloc] initWithDelegate:self queue:nil invalidateAfterFirstRead:NO];
                }
                - (void)readerSession:(NFCNDEFReaderSession *)session didInvalidateWithError:(NSError *)error {
                    NSLog(@"%@", error);
                }
                """
            ),
        ],
        good: [
            .swift(
                """
                class Reader: VendorReader, NFCNDEFReaderSessionDelegate {
                    var session: NFCNDEFReaderSession?
                    func scan() { session = NFCNDEFReaderSession(delegate: self, queue: nil, invalidateAfterFirstRead: true) }
                    override func readerSession(_ session: NFCNDEFReaderSession, didInvalidateWithError error: any Error) {
                        super.readerSession(session, didInvalidateWithError: error)
                    }
                }
                """
            ),
            .ending("self.session = nil"),
            .scanning(
                """
                func readerSession(_ session: NFCNDEFReaderSession, didInvalidateWithError error: any Error) { finish() }
                func finish() { session = nil }
                """
            ),
            .delegate(
                """
                func prepare() { session = NFCNDEFReaderSession(delegate: self, queue: .main, invalidateAfterFirstRead: false) }
                func readerSession(_ session: NFCNDEFReaderSession, didInvalidateWithError error: any Error) { prepare() }
                """
            ),
            .objective(
                """
                - (void)scan {
                    self.session = [[NFCNDEFReaderSession alloc] initWithDelegate:self queue:nil invalidateAfterFirstRead:NO];
                }
                - (void)readerSession:(NFCNDEFReaderSession *)session didInvalidateWithError:(NSError *)error {
                    [self clear];
                }
                - (void)clear { _session = nil; }
                """
            ),
        ],
        check: { unit, findings in
            for file in unit.objective {
                for (method, name) in file.keptSessions {
                    findings.add(method.place, "The property \(name) still holds the session after it ended.")
                }
            }
            for delegate in unit.ownDelegates where !delegate.invalidation.isEmpty {
                let family = unit.index.family(delegate.type)
                let properties = family.sorted().compactMap { unit.index.types[$0] }.flatMap(\.properties)
                let cleared = Set(delegate.invalidation.flatMap { unit.index.reach($0) })
                let assigned = Set(
                    cleared.flatMap { unit.index.functions[$0].assignments }.filter { clears($0.value) }.compactMap(
                        \.name
                    )
                )
                for property in properties where property.isSession && !property.isConstant && property.isOptional {
                    guard !property.marks.contains("weak"), !assigned.contains(property.name) else { continue }
                    let makers = unit.creations(in: family).filter { $0.stored == property.name }
                    // A new session takes the place of the old one.
                    guard !makers.contains(where: { cleared.contains($0.function) }) else { continue }
                    let isSet = !makers.isEmpty || stores(property.name, family, unit)
                    guard isSet, let number = callback(delegate, property, unit), !callsUnknownSuper(number, unit)
                    else { continue }
                    // An object that is created for one session is released together with it.
                    let isOnce =
                        !makers.isEmpty && makers.allSatisfy { unit.index.functions[$0.function].kind == .initializer }
                        || isMadeForScan(family, makers, unit)
                    let text = "The property \(property.name) still holds the session after it ended."
                    findings.add(unit.place(number), text, severity: isOnce ? .info : .warning)
                }
            }
        }
    )
    private static func clears(_ value: ExprSyntax) -> Bool {
        value.is(NilLiteralExprSyntax.self) || value.words == ".none"
    }

    /// Whether a function of the family assigns a value other than nil to a property of `self`.
    private static func stores(_ name: String, _ family: Set<String>, _ unit: Unit) -> Bool {
        family.compactMap { unit.index.types[$0] }.flatMap(\.functions).contains { number in
            unit.index.functions[number].assignments.contains {
                $0.name == name && !clears($0.value) && $0.target.memberBase?.words ?? "self" == "self"
            }
        }
    }

    /// Whether each function that creates an object of the family also begins the scan, and not in a closure for later.
    private static func isMadeForScan(_ family: Set<String>, _ makers: [Sessions.Creation], _ unit: Unit) -> Bool {
        let creators = family.flatMap { unit.createdTypes.creators[$0] ?? [] }
        guard !makers.isEmpty, !creators.isEmpty, family.isDisjoint(with: unit.createdTypes.reused) else {
            return false
        }
        return creators.allSatisfy { number in
            let function = unit.index.functions[number]
            let made = function.calls.filter { $0.base == nil && family.contains($0.name) }
            return function.kind == .function
                && function.calls.contains { call in
                    made.contains { $0.context == call.context }
                        && unit.index.targets(of: call, in: function).contains { target in
                            let reached = unit.index.reach(target)
                            return family.contains(unit.index.functions[target].owner ?? "")
                                && makers.allSatisfy { reached.contains($0.function) }
                        }
                }
        }
    }

    /// The index of the callback for a property's session type.
    private static func callback(_ delegate: Sessions.Delegate, _ property: PropertyInfo, _ unit: Unit) -> Int? {
        let isTag = property.type?.contains("NFCTagReaderSession") == true
        let isMessage = property.type?.contains("NFCNDEFReaderSession") == true
        let all = delegate.invalidation
        let kind = property.type?.prefix { $0.isLetter || $0.isNumber } ?? ""
        let exact = all.first { number in
            unit.index.functions[number].parameterTypes.first?.split(separator: ".").last.map { $0 == kind } == true
        }
        if let exact { return exact }
        let matching = all.first { number in
            let isForTags = unit.index.functions[number].name == "tagReaderSession"
            return isTag && isForTags || isMessage && !isForTags
        }
        return isTag || isMessage ? matching : all.first
    }

    /// Whether the callback calls a superclass outside the module, which may do the work.
    private static func callsUnknownSuper(_ number: Int, _ unit: Unit) -> Bool {
        let function = unit.index.functions[number]
        return function.calls.contains { $0.base == "super" && unit.index.targets(of: $0, in: function).isEmpty }
    }
}
