// SPDX-License-Identifier: Apache-2.0
import BackgroundTagReading
import Testing

@testable import LinkDelivery

/// Checks what a desktop can open, before a link is there to open.
@Suite struct `What a desktop opens` {
    @Test func `is known for each scheme, and a tool that may open web links is left to choose`() throws {
        let desk = try Desk()
        var router = try desk.deliverer().router()
        #expect(router.schemesWithoutBrowser == ["http", "https"] && router.browserNames == [:])
        #expect(router.unopenedSchemes == Set(LinkScheme.allCases))
        try desk.program("fox")
        try desk.entry("fox", "Exec=fox %u")
        try desk.handlers("https", "fox.desktop")
        router = try desk.deliverer().router()
        #expect(router.schemesWithoutBrowser == ["http"] && router.browserNames == ["https": "fox"])
        try desk.handlers("tel", "fox.desktop")
        try desk.program("xdg-open")
        router = try desk.deliverer().router()
        #expect(router.schemesWithoutBrowser == [] && router.browserNames == [:])
        #expect(router.unopenedSchemes == Set(LinkScheme.allCases).subtracting([.call]))
    }

    @Test(
        arguments: [
            ("", [], false), ("", ["other"], false), ("", ["firefox"], true), ("other", ["other"], true),
            ("missing:other --new %s", ["other"], true), ("missing other", ["other"], false),
            ("missing", ["wslview"], true),
        ] as [(String, [String], Bool)]
    )
    func `has a browser where one is named by a variable, or by a name that the system's tool knows`(
        variable: String,
        programs: [String],
        hasOne: Bool
    ) throws {
        let desk = try Desk()
        for program in programs { try desk.program(program) }
        let environment = desk.environment.merging(["BROWSER": variable, "DISPLAY": ":0"]) { $1 }
        #expect(LinkDeliverer(environment: environment).hasBrowser == hasOne)
        #expect(LinkDeliverer(environment: desk.environment).browserTool == nil)
    }

    @Test(
        arguments: [
            (["DISPLAY": ":0"], true), (["WAYLAND_DISPLAY": "wayland-0"], true), ([:], false),
            (["DISPLAY": "", "WAYLAND_DISPLAY": ""], false),
        ] as [([String: String], Bool)]
    )
    func `has a browser only with a display, unless one is named by a variable or shows its pages elsewhere`(
        display: [String: String],
        hasOne: Bool
    ) throws {
        let desk = try Desk()
        try desk.program("firefox")
        let environment = desk.environment.merging(display) { $1 }
        #expect(LinkDeliverer(environment: environment).hasBrowser == hasOne)
        #expect(LinkDeliverer(environment: environment.merging(["BROWSER": "firefox"]) { $1 }).hasBrowser)
        try desk.program("wslview")
        #expect(LinkDeliverer(environment: environment).hasBrowser)
    }
}
