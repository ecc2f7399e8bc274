// SPDX-License-Identifier: Apache-2.0
import BackgroundTagReading
import NDEF
import Testing
import VisibleText

@testable import LinkDelivery
@testable import nfc

/// What commands make of the answers of the service, and of a link that was opened.
@Suite struct `Answers about the background` {
    private func status(
        _ flags: String = #""reading":true,"locked":false"#,
        _ conditions: String = "",
        more: String = ""
    ) throws -> ServiceStatus {
        try #require(ServiceStatus(#"{\#(flags),"waiting":3,"conditions":[\#(conditions)]\#(more)}"#))
    }

    private static let camera = #"{"condition":"camera","met":false,"source":"It is used."}"#
    private static let display = #"{"condition":"display","met":false,"source":"It is off."}"#
    private static let reader = #"{"condition":"reader","met":false,"source":"It is gone."}"#
    private static let screen = #"{"condition":"screen","met":true,"source":"It is on."}"#

    @Test func `A status has a line for each condition, and for the screen and the disk where they matter`() throws {
        let inbox = "In the inbox: 3. See: nfc inbox list"
        #expect(try status().lines == ["Tags are read.", inbox])
        #expect(
            try status(#""reading":false,"locked":true"#, Self.screen + "," + Self.reader).lines == [
                "Tags are not read.", "  fine  screen          It is on.", "  no    reader          It is gone.",
                "The screen is locked. Links open when it is unlocked.", inbox,
            ]
        )
        let silent = #","silent_login":true,"silent_savers":["a.b"],"inbox_problem":"It is full.""#
        #expect(
            try status(#""reading":true,"locked":true"#, more: silent).lines == [
                "Tags are read.",
                "The screen counts as locked, because logind, a.b does not answer. Links open when it does.", inbox,
                "nfcd can't save what it reads: It is full. It tries again by itself.",
            ]
        )
    }

    @Test func `A service is examined by what it answers, or by why it does not`() throws {
        func finding(_ status: ServiceStatus?) -> Finding { BackgroundDoctorCommand.service(.success(status)) }
        func finding(_ name: String) -> Finding {
            BackgroundDoctorCommand.service(.failure(CommandFailure(.refused, name, "It is so.")))
        }
        let noBus = finding("no-bus")
        #expect(noBus.check == "service" && noBus.state == .fails && noBus.text == "nfcd does not answer: It is so.")
        #expect(noBus.fix == "See the result of the bus check.")
        #expect(finding("no-answer").fix == "systemctl --user restart nfcd")
        let absent = finding(nil as ServiceStatus?)
        #expect(absent.state == .fails && absent.text == "nfcd does not run.")
        #expect(absent.fix == "nfc background enable, or without systemd: nfc background run")
        let fine = finding(try status())
        #expect(fine == Finding("service", .works, "nfcd runs. In the inbox: 3."))
        // The reader has a finding of its own.
        let gone = finding(try status(#""reading":false,"locked":false"#, Self.reader + "," + Self.screen))
        #expect(gone == fine)
        let limited = finding(try status(#""reading":false,"locked":false"#, Self.camera + "," + Self.display))
        #expect(limited.state == .limited && limited.fix == nil)
        let reasons = "camera: It is used. display: It is off."
        #expect(limited.text == "nfcd runs. Tags are not read now, because of \(reasons)")
        let full = finding(try status(more: #","inbox_problem":"It is full.""#))
        #expect(full.state == .fails && full.text == "nfcd runs, but can't save what it reads: It is full.")
        #expect(full.fix?.hasPrefix("Free some disk space") == true)
    }

    @Test(
        arguments: [
            (
                Finding("bus", .fails, "It is gone.", fix: "Bring it back."),
                ["no    bus: It is gone.", "      Bring it back."],
                #"{"ok":false,"error":"bus-fails","check":"bus","subject":null,"state":"fails","#
                    + #""message":"It is gone.","fix":"Bring it back."}"#
            ),
            (
                Finding("scheme", of: "tel", .limited, "Nothing opens it."), ["part  scheme tel: Nothing opens it."],
                #"{"ok":true,"error":null,"check":"scheme","subject":"tel","state":"limited","#
                    + #""message":"Nothing opens it.","fix":null}"#
            ),
            (
                Finding("lock", .works, "It is known."), ["fine  lock: It is known."],
                #"{"ok":true,"error":null,"check":"lock","subject":null,"state":"works","#
                    + #""message":"It is known.","fix":null}"#
            ),
        ] as [(Finding, [String], String)]
    )
    func `A finding has a word for its state, and in JSON all its members`(
        finding: Finding,
        lines: [String],
        object: String
    ) {
        #expect(BackgroundDoctorCommand.lines(finding) == lines)
        var writer = JSONWriter()
        BackgroundDoctorCommand.write(finding, to: &writer)
        #expect(String(decoding: writer.text, as: UTF8.self) == object)
    }

    @Test func `The reader of a service that runs is as the service says`() async throws {
        let without = try status(#""reading":false,"locked":false"#, Self.reader)
        let gone = await BackgroundDoctorCommand.reader(without)
        #expect(gone.check == "reader" && gone.state == .fails && gone.text == "It is gone.")
        #expect(gone.fix?.hasPrefix("Plug it in, see: nfc readers.") == true)
        let there = Self.reader.replacing("false", with: "true").replacing("gone", with: "there")
        let with = try status(#""reading":true,"locked":false"#, there)
        let found = await BackgroundDoctorCommand.reader(with)
        #expect(found == Finding("reader", .works, "It is there."))
    }

    @Test func `What opened a link is named, and whether it has the message`() throws {
        let app = InstalledApp(id: "T.a.b", name: "App", desktopID: "a.b", associatedDomains: [])
        let payload = try UserActivityPayload(
            activityType: UserActivityPayload.browsingWeb,
            webpageURL: "https://a.example/x",
            message: try NDEFMessage([.uri("https://a.example/x")]).encoded()
        )
        func text(_ delivery: Delivery, _ app: String?, hasMessage: Bool = false) -> String {
            InboxOpenCommand.text(delivery, LinkDeliverer.Receipt(app: app, hasMessage: hasMessage))
        }
        #expect(text(.app(app, payload), "T.a.b", hasMessage: true) == "T.a.b")
        #expect(text(.app(app, payload), "T.a.b") == "T.a.b, without the message")
        #expect(text(.customScheme(app, "x:y"), "T.a.b") == "T.a.b")
        #expect(text(.browser("https://a.example/x"), "fox") == "the browser, fox")
        #expect(text(.browser("https://a.example/x"), nil) == "the browser")
        #expect(text(.system(.mail, "mailto:a@b.example"), "post") == "the system's app for mailto, post")
        #expect(text(.system(.mail, "mailto:a@b.example"), nil) == "the system's app for mailto")
    }
}
