// SPDX-License-Identifier: Apache-2.0
import NFCLintEngine
import SwiftSyntax

extension Rule {
    static let writeAfterFirstRead = Rule(
        id: "SRC014",
        severity: .warning,
        title: "A session that writes ends after the first read",
        why: "invalidateAfterFirstRead is only for sessions that just read messages.",
        fix: "Pass false, and invalidate the session after writing the tag.",
        bad: [
            .delegate(
                """
                func scan() { session = NFCNDEFReaderSession(delegate: self, queue: nil, invalidateAfterFirstRead: true) }
                func readerSession(_ session: NFCNDEFReaderSession, didDetect tags: [any NFCNDEFTag]) {
                    tags[0].writeNDEF(message) { _ in session.invalidate() }
                }
                """
            ),
            .objective(
                """
                - (void)scan {
                    self.session = [[NFCNDEFReaderSession alloc] initWithDelegate:self queue:nil invalidateAfterFirstRead:YES];
                }
                - (void)readerSession:(NFCNDEFReaderSession *)session didDetectTags:(NSArray<__kindof id<NFCNDEFTag>> *)tags {
                    [tags[0] writeNDEF:self.message completionHandler:^(NSError *error) { [session invalidateSession]; }];
                }
                """
            ),
        ],
        good: [
            .delegate(
                """
                func scan() { session = NFCNDEFReaderSession(delegate: self, queue: nil, invalidateAfterFirstRead: true) }
                func write() { session = NFCNDEFReaderSession(delegate: self, queue: nil, invalidateAfterFirstRead: false) }
                func readerSession(_ session: NFCNDEFReaderSession, didDetect tags: [any NFCNDEFTag]) {
                    tags[0].writeNDEF(message) { _ in session.invalidate() }
                }
                """
            ),
            .delegate(
                """
                func scan() { session = NFCNDEFReaderSession(delegate: self, queue: nil, invalidateAfterFirstRead: false) }
                func readerSession(_ session: NFCNDEFReaderSession, didDetect tags: [any NFCNDEFTag]) {
                    tags[0].writeNDEF(message) { _ in session.invalidate() }
                }
                """
            ),
            .objective(
                """
                - (void)scan {
                    self.session = [[NFCNDEFReaderSession alloc] initWithDelegate:self queue:nil invalidateAfterFirstRead:NO];
                }
                - (void)readerSession:(NFCNDEFReaderSession *)session didDetectTags:(NSArray<__kindof id<NFCNDEFTag>> *)tags {
                    [tags[0] writeNDEF:self.message completionHandler:^(NSError *error) { [session invalidateSession]; }];
                }
                """
            ),
        ],
        check: { unit, findings in
            for creation in unit.objective.flatMap(\.shortWriters) {
                findings.add(creation.statement.place, "The session writes, but ends after the first read.")
            }
            for delegate in unit.ownDelegates where delegate.kinds.contains(.ndef) {
                let reached = Set(delegate.tags.flatMap { unit.index.reach($0) })
                guard unit.calls(reached, ["writeNDEF", "writeLock"]) else { continue }
                let creations = unit.creations(for: delegate).filter { $0.kind == .ndef }
                // If another session of the class is for writing, these only read.
                let values = creations.map { $0.call.argument("invalidateAfterFirstRead")?.words }
                guard values.allSatisfy({ $0 == "true" }) else { continue }
                let isNamed = { (creation: Sessions.Creation, part: String) in
                    let names = [creation.stored ?? "", unit.index.functions[creation.function].name]
                    return names.contains { $0.lowercased().contains(part) }
                }
                let hasWriter = creations.contains { isNamed($0, "writ") }
                for creation in creations where !hasWriter || isNamed(creation, "writ") || !isNamed(creation, "read") {
                    guard let value = creation.call.argument("invalidateAfterFirstRead") else { continue }
                    findings.add(
                        unit.place(value, creation.function),
                        "The session writes, but ends after the first read."
                    )
                }
            }
        }
    )
}
