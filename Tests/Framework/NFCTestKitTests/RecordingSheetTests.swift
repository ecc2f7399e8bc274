// SPDX-License-Identifier: Apache-2.0
import NFCRuntime
import NFCTestKit
import TagLink
import Testing

@Suite struct `A sheet that records` {
    private static func content(_ state: SheetState, _ message: String = "") -> SheetContent {
        SheetContent(state: state, title: "", message: message, showsErrorSymbol: false)
    }

    @Test func `It has what it showed, in order`() {
        let sheet = RecordingSheet()
        #expect(sheet.history.isEmpty && sheet.content == nil)
        let contents = [Self.content(.ready, "a"), Self.content(.scanning, "b"), Self.content(.dismissed)]
        for (index, content) in contents.enumerated() {
            sheet.present(content) {}
            #expect(sheet.content == content && sheet.history == Array(contents[...index]))
        }
    }

    @Test func `Its button is that of the last content, where that has one`() {
        let sheet = RecordingSheet()
        let pressed = Locked<[String]>([])
        #expect(!sheet.cancel())
        for (state, name, isPressed) in [
            (SheetState.ready, "one", true), (.scanning, "two", true), (.success, "three", false),
            (.scanning, "four", true), (.failure, "five", false), (.dismissed, "six", false),
        ] {
            sheet.present(Self.content(state)) { pressed.withLock { $0.append(name) } }
            let before = pressed.withLock { $0 }
            #expect(sheet.cancel() == isPressed, "\(name)")
            #expect(pressed.withLock { $0 } == before + (isPressed ? [name] : []))
        }
    }
}
