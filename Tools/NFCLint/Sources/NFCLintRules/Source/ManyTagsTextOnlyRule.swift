// SPDX-License-Identifier: Apache-2.0
import NFCLintEngine
import SwiftSyntax

extension Rule {
    static let manyTagsTextOnly = Rule(
        id: "SRC030",
        severity: .error,
        title: "For several tags, only the text is changed",
        why: """
            Polling stops when tags are found. Without restartPolling(), the sheet asks for one tag but never reads \
            it.
            """,
        fix: "Call restartPolling() after half a second, or invalidate the session.",
        bad: [
            .detecting(
                """
                if tags.count > 1 {
                    session.alertMessage = "Hold one badge only."
                    return
                }
                session.invalidate()
                """
            ),
            .detecting(
                """
                if tags.count > 1 {
                    session.alertMessage = "Hold one badge only."
                    DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(500), execute: {})
                    return
                }
                session.invalidate()
                """
            ),
            .objective(
                """
                - (void)readerSession:(NFCNDEFReaderSession *)session didDetectTags:(NSArray<__kindof id<NFCNDEFTag>> *)tags {
                    if (tags.count > 1) {
                        session.alertMessage = @"Hold one badge only.";
                        return;
                    }
                    [self open:tags.firstObject];
                }
                """
            ),
            .detecting(
                """
                if tags.count > 1 {
                    Log.reader("several badges")
                    session.alertMessage = "Hold one badge only."
                    return
                }
                session.invalidate()
                """
            ),
        ],
        good: [
            .detecting(
                """
                if tags.count > 1 {
                    session.alertMessage = "Hold one badge only."
                    session.restartPolling()
                    return
                }
                session.invalidate()
                """
            ),
            .objective(
                """
                - (void)readerSession:(NFCNDEFReaderSession *)session didDetectTags:(NSArray<__kindof id<NFCNDEFTag>> *)tags {
                    if (tags.count > 1) {
                        session.alertMessage = @"Hold one badge only.";
                        dispatch_after(self.soon, dispatch_get_main_queue(), ^{ [session restartPolling]; });
                        return;
                    }
                    [self open:tags.firstObject];
                }
                """
            ),
        ],
        check: { unit, findings in
            for file in unit.objective {
                for statement in file.tagCallbacks.compactMap(file.hangingBranch) {
                    let text =
                        "For several tags, the text is changed but polling is not restarted, so nothing more is read."
                    findings.add(statement.place, text)
                }
            }
            for (number, end) in HangingPaths(unit).ends where end.setsText && end.isForSeveral {
                findings.add(
                    unit.place(end.node, number),
                    "For several tags, the text is changed but polling is not restarted, so nothing more is read."
                )
            }
        }
    )
}
