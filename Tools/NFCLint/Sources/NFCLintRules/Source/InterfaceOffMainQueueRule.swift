// SPDX-License-Identifier: Apache-2.0
import NFCLintEngine
import SwiftSyntax

extension Rule {
    static let interfaceOffMainQueue = Rule(
        id: "SRC016",
        severity: .warning,
        title: "The UI is changed on the session's queue",
        why: """
            If queue is nil, callbacks run on the session's own queue. UIKit and SwiftUI may only be used on the main \
            thread.
            """,
        fix: "Pass .main as the queue, or switch to the main actor first.",
        bad: [
            .swift(
                """
                class Screen: UIViewController, NFCNDEFReaderSessionDelegate {
                    var session: NFCNDEFReaderSession?
                    func scan() { session = NFCNDEFReaderSession(delegate: self, queue: nil, invalidateAfterFirstRead: true) }
                    func readerSession(_ session: NFCNDEFReaderSession, didDetectNDEFs messages: [NFCNDEFMessage]) {
                        tableView.reloadData()
                    }
                }
                """
            ),
            .swift(
                """
                class Reader: UIViewController, NFCNDEFReaderSessionDelegate {
                    @IBOutlet var field: UITextField!
                    var session: NFCNDEFReaderSession?
                    func scan() { session = NFCNDEFReaderSession(delegate: self, queue: nil, invalidateAfterFirstRead: false) }
                    func readerSession(_ session: NFCNDEFReaderSession, didDetect tags: [any NFCNDEFTag]) {
                        session.connect(to: tags[0]) { _ in write(self.field.text, tags[0]) }
                    }
                }
                """
            ),
            .objective(
                """
                - (void)scan {
                    self.session = [[NFCNDEFReaderSession alloc] initWithDelegate:self queue:nil invalidateAfterFirstRead:NO];
                }
                - (void)readerSession:(NFCNDEFReaderSession *)session didDetectNDEFs:(NSArray<NFCNDEFMessage *> *)messages {
                    self.label.text = messages.description;
                }
                """
            ),
        ],
        good: [
            .swift(
                """
                class Screen: UIViewController, NFCNDEFReaderSessionDelegate {
                    var session: NFCNDEFReaderSession?
                    func scan() { session = NFCNDEFReaderSession(delegate: self, queue: nil, invalidateAfterFirstRead: true) }
                    func readerSession(_ session: NFCNDEFReaderSession, didDetectNDEFs messages: [NFCNDEFMessage]) {
                        DispatchQueue.main.async { self.tableView.reloadData() }
                    }
                }
                """
            ),
            // A call that is not Core NFC's can run its closure on any queue.
            .swift(
                """
                class Screen: UIViewController, NFCNDEFReaderSessionDelegate {
                    var session: NFCNDEFReaderSession?
                    func scan() { session = NFCNDEFReaderSession(delegate: self, queue: nil, invalidateAfterFirstRead: true) }
                    func readerSession(_ session: NFCNDEFReaderSession, didDetectNDEFs messages: [NFCNDEFMessage]) {
                        store.load(messages) { self.tableView.reloadData() }
                    }
                }
                """
            ),
            .objective(
                """
                - (void)scan {
                    self.session = [[NFCNDEFReaderSession alloc] initWithDelegate:self queue:nil invalidateAfterFirstRead:NO];
                }
                - (void)readerSession:(NFCNDEFReaderSession *)session didDetectNDEFs:(NSArray<NFCNDEFMessage *> *)messages {
                    dispatch_async(dispatch_get_main_queue(), ^{
                        self.label.text = messages.description;
                    });
                }
                """
            ),
        ],
        check: { unit, findings in
            for statement in unit.objective.flatMap(\.interfaceChanges) {
                findings.add(statement.place, "The UI is changed here, on the session's queue.")
            }
            for delegate in unit.ownDelegates {
                let creations = unit.creations(for: delegate)
                guard !creations.isEmpty, creations.allSatisfy({ $0.hasOwnQueue && $0.kind != .payment }) else {
                    continue
                }
                let type = unit.index.types[delegate.type]
                guard type?.marks.contains("@MainActor") != true else { continue }
                let names = InterfaceNames(unit.index, delegate.type)
                // If a delegate has `didDetect` for tags, its `didDetectNDEFs` never runs.
                let callbacks =
                    delegate.tags.isEmpty
                    ? delegate.callbacks : delegate.tags + delegate.invalidation + delegate.activation
                for number in callbacks where !unit.index.functions[number].marks.contains("@MainActor") {
                    guard let node = names.firstUse(in: number) else { continue }
                    findings.add(node, "The UI is used here, on the session's queue.")
                }
            }
        }
    )
}
