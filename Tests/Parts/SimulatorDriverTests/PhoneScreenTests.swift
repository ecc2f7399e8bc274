// SPDX-License-Identifier: Apache-2.0
import Foundation
import NFCReaders
import PhoneScreens
import SimulatorDriver
import SimulatorTesting
import Testing

@Suite(.timeLimit(.minutes(5))) struct `The screens of an app on a phone` {
    @Test func `Are what the app shows, one after the other, and none is what it prints`() async throws {
        let simulator = FakeSimulator { _, request in
            guard request["hello"] == nil else { return [FakeSimulator.greeting] }
            return request["id"].map { [#"{"id":\#($0)}"#] } ?? []
        }
        let reader = simulator.reader
        let host = try #require(MadeReader(reader).host as? SimulatorPhone)
        let phone = SimulatedPhone(host)
        try await reader.prepare()
        let button = #"{"kind":"button","id":"go","text":"Go","style":"filled"}"#
        let one = #"{"title":"One","items":[\#(button)]}"#
        for (screen, text) in [
            (PhoneScreen(title: "One", items: [.button("Go", id: "go")]), one),
            (PhoneScreen(title: "Two"), #"{"title":"Two","items":[]}"#), (nil, "null"),
        ] as [(PhoneScreen?, String)] {
            phone.show(screen)
            while !simulator.lines.contains(where: { $0.contains(#""screen":\#(text)"#) }) {
                try await Task.sleep(for: .milliseconds(2))
            }
        }
        #expect(simulator.lines.count { $0.contains(#""screen":"#) } == 3)
        withExtendedLifetime(phone) {}
    }
}
