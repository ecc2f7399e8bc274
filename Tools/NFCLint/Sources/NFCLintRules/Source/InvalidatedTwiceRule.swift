// SPDX-License-Identifier: Apache-2.0
import NFCLintEngine
import SwiftSyntax

extension Rule {
    static let invalidatedTwice = Rule(
        id: "SRC025",
        severity: .warning,
        title: "A session is invalidated after it has ended",
        why: """
            When didInvalidateWithError is called, the session has already ended. invalidate() has no effect on it, \
            and may end a new session by mistake.
            """,
        fix: "Remove the call.",
        bad: [
            .delegate(
                """
                func readerSession(_ session: NFCNDEFReaderSession, didInvalidateWithError error: any Error) {
                    session.invalidate()
                    self.session = nil
                }
                """
            ),
            .objective(
                """
                - (void)readerSession:(NFCNDEFReaderSession *)session didInvalidateWithError:(NSError *)error {
                    [self close];
                }
                - (void)close {
                    [self.session invalidateSession];
                    self.session = nil;
                }
                """
            ),
        ],
        good: [
            .delegate(
                """
                func readerSession(_ session: NFCNDEFReaderSession, didInvalidateWithError error: any Error) {
                    self.session = nil
                }
                """
            ),
            .objective(
                """
                - (void)readerSession:(NFCNDEFReaderSession *)session didInvalidateWithError:(NSError *)error {
                    // [session invalidateSession];
                    self.session = nil;
                }
                """
            ),
            .objective(
                """
                - (void)tagReaderSession:(NFCTagReaderSession *)session didInvalidateWithError:(NSError *)error {
                    [self endSession:session error:error];
                }
                - (void)endSession:(NFCTagReaderSession *)session error:(NSError *)error { self.session = nil; }
                - (void)endSession:(NFCTagReaderSession *)session text:(NSString *)text { [session invalidateSession]; }
                """
            ),
        ],
        check: { unit, findings in
            for file in unit.objective {
                for statement in file.invalidations.compactMap(file.endsAgain) {
                    findings.add(statement.place, "The session has ended already.")
                }
            }
            for delegate in unit.ownDelegates {
                for number in delegate.invalidation {
                    let function = unit.index.functions[number]
                    for call in function.calls where call.name == "invalidate" {
                        guard unit.sessions.isSession(base: call.base),
                            call.base?.lowercased().contains("urlsession") != true
                        else { continue }
                        findings.add(
                            unit.place(call.node, number),
                            "The session has already ended, so invalidate() has no effect."
                        )
                        break
                    }
                }
            }
        }
    )
}
