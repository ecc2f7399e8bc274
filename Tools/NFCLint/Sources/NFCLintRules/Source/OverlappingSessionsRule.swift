// SPDX-License-Identifier: Apache-2.0
import NFCLintEngine
import SwiftSyntax

extension Rule {
    static let overlappingSessions = Rule(
        id: "SRC007",
        severity: .warning,
        title: "A session begins while another one is running",
        why: """
            The whole system runs one session at a time. A second one waits, or ends with 203 while the first one's \
            sheet is visible.
            """,
        fix: "Invalidate the first session, and begin the next one a few seconds after didInvalidateWithError.",
        bad: [
            .scanning(
                """
                func readerSession(_ session: NFCNDEFReaderSession, didDetect tags: [any NFCNDEFTag]) {
                    scan()
                }
                """
            ),
            .swift(
                """
                class Reader: NSObject {
                    var links: NFCNDEFReaderSession?
                    var badges: NFCTagReaderSession?
                    func scan() {
                        links?.begin()
                        badges?.begin()
                    }
                }
                """
            ),
            .swift(
                """
                class Reader: NSObject {
                    var session: NFCTagReaderSession?
                    func scan() {
                        session?.invalidate()
                        session = NFCTagReaderSession(pollingOption: .iso14443, delegate: self)
                        session?.begin()
                    }
                }
                """
            ),
        ],
        good: [
            .scanning(
                """
                func readerSession(_ session: NFCNDEFReaderSession, didDetect tags: [any NFCNDEFTag]) {
                    session.invalidate()
                }
                """
            ),
            .swift(
                """
                class Reader: NSObject {
                    var links: NFCNDEFReaderSession?
                    var badges: NFCTagReaderSession?
                    func scan(isBadge: Bool) {
                        guard isBadge else {
                            links?.begin()
                            return
                        }
                        badges?.begin()
                    }
                    func scanBoth() {
                        links?.begin()
                        links?.invalidate()
                        DispatchQueue.main.asyncAfter(deadline: .now() + 3) { self.badges?.begin() }
                    }
                }
                """
            ),
        ],
        check: { unit, findings in
            for (call, number) in secondBegins(unit) {
                let text = "A second session begins right after the first one, which still uses the reader."
                findings.add(unit.place(call.node, number), "\(text) Unconfirmed.", isProven: false)
            }
            for (call, number) in replacements(unit) {
                let text = "A session begins right after invalidate(), while the previous one's sheet may be closing."
                findings.add(unit.place(call.node, number), "\(text) Unconfirmed.", severity: .info, isProven: false)
            }
            let begins = Dictionary(grouping: unit.sessions.begins, by: \.function)
            for delegate in unit.ownDelegates {
                for number in delegate.tags + delegate.messages {
                    let function = unit.index.functions[number]
                    guard !unit.calls([number], ["invalidate"]) else { continue }
                    for call in function.calls {
                        let targets = call.name == "begin" ? [] : unit.index.targets(of: call, in: function)
                        let isDirect = begins[number]?.contains { $0.call.node.id == call.node.id } == true
                        let isInner = targets.contains { begins[$0] != nil && !unit.calls([$0], ["invalidate"]) }
                        guard isDirect || isInner else { continue }
                        findings.add(
                            unit.place(call.node, number),
                            "A session begins in another session's callback, which does not invalidate that session."
                        )
                        break
                    }
                }
                for number in delegate.invalidation {
                    let function = unit.index.functions[number]
                    for call in function.calls
                    where !call.context.contains(where: {
                        $0.contains("asyncAfter") || $0.contains("Timer") || $0.hasPrefix("Task")
                    }) {
                        let isDirect = begins[number]?.contains { $0.call.node.id == call.node.id } == true
                        let isInner = unit.index.targets(of: call, in: function).contains { begins[$0] != nil }
                        guard isDirect || isInner else { continue }
                        let text =
                            "A session begins while the previous one's sheet is closing, which can end it with 203."
                        findings.add(unit.place(call.node, number), "\(text) Unconfirmed.", isProven: false)
                        break
                    }
                }
            }
        }
    )
}

/// The calls that begin a second session in the same list of statements, although the first has not ended.
private func secondBegins(_ unit: Unit) -> [(call: CallInfo, function: Int)] {
    var found: [(call: CallInfo, function: Int)] = []
    let begins = Dictionary(grouping: unit.sessions.begins, by: \.function)
    for (number, begins) in begins.sorted(by: { $0.key < $1.key }) where begins.count > 1 {
        let function = unit.index.functions[number]
        guard unit.isOwn(function) else { continue }
        let calls = begins.map(\.call).sorted { $0.node.position < $1.node.position }
        for (first, second) in zip(calls, calls.dropFirst()) where first.base != second.base {
            guard let list = statements(around: first), list == statements(around: second) else { continue }
            let between = first.node.endPosition..<second.node.position
            let ends = function.calls.contains {
                between.contains($0.node.position) && ["invalidate", "wait", "sleep"].contains($0.name)
            }
            if !ends { found.append((second, number)) }
        }
    }
    return found
}

/// The calls that begin a session, directly or in a function, after another one was invalidated in the same statements.
private func replacements(_ unit: Unit) -> [(call: CallInfo, function: Int)] {
    let begins = Dictionary(grouping: unit.sessions.begins, by: \.function)
    let ends = Set(unit.sessions.delegates.flatMap(\.invalidation))
    return unit.ownFunctions.compactMap { number, function in
        let invalidated = function.calls.filter { call in
            call.name == "invalidate" && call.labels.isEmpty
                && unit.sessions.isSession(base: call.base)
        }
        guard !ends.contains(number), !invalidated.isEmpty else { return nil }
        let next = function.calls.first { call in
            let isBegin =
                begins[number]?.contains { $0.call.node.id == call.node.id } == true
                || call.name != "begin" && unit.index.targets(of: call, in: function).contains { begins[$0] != nil }
            return isBegin
                && invalidated.contains { end in
                    let between = end.node.endPosition..<max(end.node.endPosition, call.node.position)
                    let waits = ["wait", "sleep"]
                    return end.node.position < call.node.position && end.context == call.context
                        && end.node.enclosing(CodeBlockItemListSyntax.self).map { call.node.isWithin($0) } == true
                        && !function.calls.contains { waits.contains($0.name) && between.contains($0.node.position) }
                }
        }
        return next.map { ($0, number) }
    }
}

/// The list of statements that contains a call.
private func statements(around call: CallInfo) -> SyntaxIdentifier? {
    var node = call.node.parent
    while let step = node {
        if step.is(CodeBlockItemListSyntax.self) { return step.id }
        node = step.parent
    }
    return nil
}
