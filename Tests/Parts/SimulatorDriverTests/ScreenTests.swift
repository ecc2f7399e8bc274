// SPDX-License-Identifier: Apache-2.0
import Foundation
import PhoneScreens
import SimulatorTesting
import Testing

@Suite struct `A screen as JSON` {
    @Test func `Each part of a screen has its own members, and no others`() {
        let screen = PhoneScreen(
            title: "Title",
            back: PhoneScreen.Button("Back", id: "back", style: .plain),
            items: [
                .text("words", detail: "more"), .text("alone"), .heading("part"),
                .row("a", detail: "b", badge: "New", id: "row"), .row("c"), .button("Go", id: "go"),
                .alert(
                    "Sure?",
                    text: "Gone.",
                    buttons: [
                        PhoneScreen.Button("No", id: "no", style: .plain),
                        PhoneScreen.Button("Yes", id: "yes", style: .destructive), PhoneScreen.Button("OK", id: "ok"),
                    ]
                ),
            ]
        )
        let items = [
            #"{"kind":"text","text":"words","detail":"more"}"#, #"{"kind":"text","text":"alone"}"#,
            #"{"kind":"heading","text":"part"}"#,
            #"{"kind":"row","id":"row","text":"a","detail":"b","badge":"New"}"#, #"{"kind":"row","text":"c"}"#,
            #"{"kind":"button","id":"go","text":"Go","style":"filled"}"#,
            #"{"kind":"alert","text":"Sure?","detail":"Gone.","buttons":[{"id":"no","text":"No","style":"plain"},"#
                + #"{"id":"yes","text":"Yes","style":"destructive"},{"id":"ok","text":"OK","style":"filled"}]}"#,
        ]
        let back = #""back":{"id":"back","text":"Back","style":"plain"}"#
        #expect(screen.json == #"{"title":"Title",\#(back),"items":[\#(items.joined(separator: ","))]}"#)
        #expect(PhoneScreen(title: "").json == #"{"title":"","items":[]}"#)
    }

    @Test func `A screen is JSON with all that it shows`() throws {
        let screen = PhoneScreen(
            title: "A \"title\"\u{202E}",
            back: PhoneScreen.Button("Back", id: "back"),
            items: [
                .text("words", detail: "more"), .heading("part"), .row("a", detail: "b", badge: "New", id: "row"),
                .button("Delete", id: "delete", style: .destructive),
                .alert("Sure?", text: "It is gone then.", buttons: [PhoneScreen.Button("OK", id: "ok")]),
            ]
        )
        #expect(screen.json.contains(#""title":"A \"title\"\u202e""#))
        let object = try #require(
            try JSONSerialization.jsonObject(with: Data(screen.json.utf8)) as? FakeSimulator.Request
        )
        let items = try #require(object["items"] as? [FakeSimulator.Request])
        #expect(items.compactMap { $0["kind"] as? String } == ["text", "heading", "row", "button", "alert"])
        #expect(items[2]["badge"] as? String == "New" && items[2]["id"] as? String == "row")
        #expect(items[3]["style"] as? String == "destructive" && items[3]["detail"] == nil)
        #expect((items[4]["buttons"] as? [FakeSimulator.Request])?.first?["id"] as? String == "ok")
        #expect((object["back"] as? FakeSimulator.Request)?["text"] as? String == "Back")
    }
}
