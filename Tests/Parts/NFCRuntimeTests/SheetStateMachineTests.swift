// SPDX-License-Identifier: Apache-2.0
import NFCRuntime
import Testing

@Suite struct `The state machine of the scanning sheet` {
    static func sheet(after events: [SheetStateMachine.Event]) -> SheetStateMachine {
        var sheet = SheetStateMachine()
        for event in events { _ = sheet.handle(event) }
        return sheet
    }

    @Test func `The sheet goes from ready over scanning to success and away`() {
        var sheet = SheetStateMachine()
        #expect(sheet.handle(.present(message: "Hold it near."))?.state == .ready)
        #expect(sheet.content?.title == "Ready to Scan")
        #expect(sheet.content?.canCancel == true)
        #expect(sheet.handle(.tagFound)?.state == .scanning)
        #expect(sheet.handle(.messageChanged("Reading."))?.message == "Reading.")
        #expect(sheet.handle(.succeeded)?.state == .success)
        #expect(sheet.content?.message == "Reading.")
        #expect(sheet.content?.canCancel == false)
        #expect(sheet.handle(.resultShown)?.state == .dismissed)
        #expect(!sheet.isVisible)
    }

    @Test func `A failure shows its own message, with or without the symbol`() {
        for symbol in [true, false] {
            var sheet = Self.sheet(after: [.present(message: "Hold it near.")])
            let content = sheet.handle(.failed(message: "It did not work.", showsErrorSymbol: symbol))
            #expect(content?.state == .failure)
            #expect(content?.message == "It did not work.")
            #expect(content?.showsErrorSymbol == symbol)
        }
    }

    @Test func `The sheet waits again when polling is restarted`() {
        var sheet = Self.sheet(after: [.present(message: ""), .tagFound])
        #expect(sheet.handle(.pollingRestarted)?.state == .ready)
    }

    @Test func `What changes nothing is not drawn`() {
        var sheet = Self.sheet(after: [.present(message: "Same.")])
        #expect(sheet.handle(.messageChanged("Same.")) == nil)
        #expect(sheet.handle(.pollingRestarted) == nil)
        #expect(sheet.handle(.resultShown) == nil)
    }

    @Test func `Nothing is drawn before the sheet is presented or after it has left`() {
        var unseen = SheetStateMachine()
        #expect(unseen.handle(.tagFound) == nil)
        var gone = Self.sheet(after: [.present(message: ""), .leave])
        #expect(gone.content?.state == .dismissed)
        #expect(gone.handle(.messageChanged("Late.")) == nil)
        #expect(gone.handle(.present(message: "Again.")) == nil)
    }

    // MARK: Every event in every state

    private static let events: [(name: String, event: SheetStateMachine.Event)] = [
        ("present", .present(message: "Again.")), ("message", .messageChanged("Other.")), ("found", .tagFound),
        ("restarted", .pollingRestarted), ("succeeded", .succeeded),
        ("failed", .failed(message: "No.", showsErrorSymbol: true)), ("leave", .leave), ("over", .resultShown),
    ]

    @Test(
        arguments: [
            ([], ["present": "ready, Ready to Scan, Again."]),
            (
                [.present(message: "Near.")],
                [
                    "message": "ready, Ready to Scan, Other.", "found": "scanning, Ready to Scan, Near.",
                    "succeeded": "success, , Near.", "failed": "failure, , No. ✗",
                    "leave": "dismissed, Ready to Scan, Near.",
                ]
            ),
            (
                [.present(message: "Near."), .tagFound],
                [
                    "message": "scanning, Ready to Scan, Other.", "restarted": "ready, Ready to Scan, Near.",
                    "succeeded": "success, , Near.", "failed": "failure, , No. ✗",
                    "leave": "dismissed, Ready to Scan, Near.",
                ]
            ),
            ([.present(message: "Near."), .succeeded], ["over": "dismissed, , Near."]),
            (
                [.present(message: "Near."), .failed(message: "No.", showsErrorSymbol: true)],
                ["over": "dismissed, , No. ✗"]
            ),
            ([.present(message: "Near."), .leave], [:]),
        ] as [([SheetStateMachine.Event], [String: String])]
    )
    func `Each event draws what its state allows, and nothing else`(
        before: [SheetStateMachine.Event],
        drawn: [String: String]
    ) {
        for (name, event) in Self.events {
            var sheet = Self.sheet(after: before)
            let last = sheet.content
            let content = sheet.handle(event)
            let text = content.map { "\($0.state), \($0.title), \($0.message)\($0.showsErrorSymbol ? " ✗" : "")" }
            #expect(text == drawn[name], "\(name)")
            #expect(sheet.content == content ?? last, "\(name)")
        }
    }

    @Test func `The sheet is visible from its presentation until it has left`() {
        #expect(!SheetStateMachine().isVisible)
        let present = SheetStateMachine.Event.present(message: "")
        #expect(Self.sheet(after: [present]).isVisible && Self.sheet(after: [present, .tagFound]).isVisible)
        #expect(Self.sheet(after: [present, .succeeded]).isVisible)
        #expect(!Self.sheet(after: [present, .leave]).isVisible)
        #expect(!Self.sheet(after: [present, .succeeded, .resultShown]).isVisible)
    }
}
