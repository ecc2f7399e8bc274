// SPDX-License-Identifier: Apache-2.0
import NFCLintEngine
import SwiftSyntax

extension Rule {
    static let hangingPath = Rule(
        id: "SRC012",
        severity: .warning,
        title: "A code path in the callback leaves the session hanging",
        why: """
            Polling stops when a tag is found. If a code path does nothing, the sheet stays on the screen until it \
            times out after 60 seconds.
            """,
        fix: "End each code path with invalidate(), invalidate(errorMessage:) or restartPolling().",
        bad: [
            .detecting(
                """
                session.connect(to: tags[0]) { error in
                    if let error {
                        print(error)
                        return
                    }
                    session.invalidate()
                }
                """
            ),
            .swift(
                """
                class Reader: NSObject, NFCTagReaderSessionDelegate {
                    var session: NFCTagReaderSession?
                    func tagReaderSession(_ session: NFCTagReaderSession, didDetect tags: [NFCTag]) {
                        Task {
                            do {
                                try await session.connect(to: tags[0])
                                session.invalidate()
                            } catch {
                                print(error)
                            }
                        }
                    }
                }
                """
            ),
            .swift(
                """
                class Reader: NSObject, NFCTagReaderSessionDelegate {
                    var session: NFCTagReaderSession?
                    func tagReaderSession(_ session: NFCTagReaderSession, didDetect tags: [NFCTag]) {
                        tags.forEach { print($0) }
                    }
                    func end() { session?.invalidate() }
                }
                """
            ),
            .swift(
                """
                class Reader: NSObject, NFCTagReaderSessionDelegate {
                    var session: NFCTagReaderSession?
                    func tagReaderSession(_ session: NFCTagReaderSession, didDetect tags: [NFCTag]) {
                        session.alertMessage = "The badge was read."
                        found(tags[0])
                    }
                }
                """
            ),
            .objective(
                """
                - (void)tagReaderSession:(NFCTagReaderSession *)session didDetectTags:(NSArray<__kindof id<NFCTag>> *)tags {
                    [session connectToTag:tags.firstObject completionHandler:^(NSError *error) {
                        if (error != nil) {
                            NSLog(@"%@", error);
                            return;
                        }
                        [session invalidateSession];
                    }];
                }
                """
            ),
        ],
        good: [
            .objective(
                """
                - (void)tagReaderSession:(NFCTagReaderSession *)session didDetectTags:(NSArray<__kindof id<NFCTag>> *)tags {
                    [session connectToTag:tags.firstObject completionHandler:^(NSError *error) {
                        if (error) { [self fail]; return; }
                        [self open:tags.firstObject];
                    }];
                }
                - (void)fail { [self.session invalidateSessionWithErrorMessage:@"The badge moved."]; }
                """
            ),
            .swift(
                """
                class Reader: NSObject, NFCTagReaderSessionDelegate {
                    var session: NFCTagReaderSession?
                    func scan() { session = NFCTagReaderSession(pollingOption: .iso15693, delegate: self) }
                    func tagReaderSession(_ session: NFCTagReaderSession, didDetect tags: [NFCTag]) {
                        switch tags[0] {
                        case .iso15693(let tag): open(tag, session)
                        default: break
                        }
                    }
                    func open(_ tag: any NFCISO15693Tag, _ session: NFCTagReaderSession) { session.invalidate() }
                }
                """
            ),
            .detecting(
                """
                guard let tag = tags.first else { return }
                session.connect(to: tag) { error in
                    if error != nil {
                        session.invalidate(errorMessage: "The badge was not read.")
                        return
                    }
                    session.invalidate()
                }
                """
            ),
            .swift(
                """
                class Reader: NSObject, NFCTagReaderSessionDelegate {
                    var session: NFCTagReaderSession?
                    var subscription: AnyCancellable?
                    func tagReaderSession(_ session: NFCTagReaderSession, didDetect tags: [NFCTag]) {
                        Log.reader("found")
                        let badge = tags.first!
                        subscription = session.connectPublisher(badge).sink { [weak self] _ in self?.open(badge) }
                    }
                    func open(_ badge: NFCTag) { session?.invalidate() }
                }
                """
            ),
        ],
        check: { unit, findings in
            let path =
                "This code path neither invalidates the session nor restarts polling, so the sheet stays. Unconfirmed."
            for statement in unit.objective.flatMap(\.hangingErrors) {
                findings.add(statement.place, path, isProven: false)
            }
            for delegate in unit.ownDelegates
            where unit.objective.isEmpty && !unit.mentionsAnywhere(["invalidate", "restartPolling"]) {
                let last = delegate.tags.last { unit.index.functions[$0].statements?.isEmpty == false }
                let text = "Nothing in the project invalidates the session or restarts polling, so the sheet stays."
                findings.add(last.flatMap { unit.place($0) }, "\(text) Unconfirmed.", isProven: false)
            }
            for (number, end) in HangingPaths(unit).ends where !(end.setsText && end.isForSeveral) {
                findings.add(unit.place(end.node, number), path, isProven: false)
            }
        }
    )
}
