// SPDX-License-Identifier: Apache-2.0
import NFCLintEngine
import SwiftSyntax

/// The names through which a type changes the user interface: UIKit calls, outlets, and published properties.
struct InterfaceNames {
    private let index: ModuleIndex
    private let published: Set<String>
    private let outlets: Set<String>
    private let isController: Bool

    init(_ index: ModuleIndex, _ type: String) {
        self.index = index
        let properties = index.family(type).compactMap { index.types[$0] }.flatMap(\.properties)
        published = Set(properties.filter { $0.marks.contains("@Published") }.map(\.name))
        outlets = Set(
            properties.filter { $0.marks.contains("@IBOutlet") || $0.type?.hasPrefix("UI") == true }.map(\.name)
        )
        let inherited = index.family(type).compactMap { index.types[$0] }.flatMap(\.inherited)
        isController = inherited.contains {
            $0.hasSuffix("ViewController") || $0.hasSuffix("Controller") || $0 == "UIView"
        }
    }

    private static let calls: Set<String> = [
        "reloadData", "performSegue", "pushViewController", "popViewController", "setNeedsLayout",
    ]

    /// The first place where a function, or one that it calls, changes the interface outside the main thread.
    func firstUse(in number: Int) -> Place? {
        let function = index.functions[number]
        if let own = use(function) { return own }
        for call in function.calls where !isOnMain(call.context) {
            for target in index.targets(of: call, in: function) {
                let inner = index.functions[target]
                guard !inner.marks.contains("@MainActor"), inner.kind == .function, use(inner) != nil else { continue }
                return function.file.place(call.node)
            }
        }
        return nil
    }

    private func use(_ function: FunctionInfo) -> Place? {
        for call in function.calls where !isOnMain(call.context) {
            let isPlain = call.base == nil || call.base == "self"
            let presents = isController && isPlain && (call.name == "present" || call.name == "dismiss")
            let opens = call.name == "open" && call.base == "UIApplication.shared"
            if Self.calls.contains(call.name) || presents || opens { return function.file.place(call.node) }
        }
        for assignment in function.assignments where !isOnMain(assignment.context) {
            guard let name = assignment.name else { continue }
            let base = assignment.target.memberBase
            if published.contains(name), base == nil || base?.words == "self" {
                return function.file.place(assignment.target)
            }
            if let outlet = base?.lastName, outlets.contains(outlet) { return function.file.place(assignment.target) }
        }
        return readOutlet(function)
    }

    /// The place where a function reads the state of an outlet, such as `field.text`.
    private func readOutlet(_ function: FunctionInfo) -> Place? {
        guard !outlets.isDisjoint(with: function.names) else { return nil }
        let shown: Set<String> = ["text", "isOn", "image", "isHidden", "selectedSegmentIndex", "attributedText"]
        let members = Finder.all(MemberAccessExprSyntax.self, in: function.body)
        let found = members.first { member in
            guard shown.contains(member.declName.baseName.text), let base = member.base?.core,
                base.lastName.map(outlets.contains) == true
            else { return false }
            let isOwn = base.memberBase.map { $0.words == "self" } ?? true
            return isOwn && !isOnMain(member.receivers)
        }
        return found.map { member in function.file.place(member) }
    }

    /// Calls of the system that run their closures on the session's queue, or on another that is not the main one.
    private static let background = Names.commands.union([
        "connect", "sendCommand", "Task", "detached", "async", "sync", "asyncAfter", "forEach", "map", "flatMap",
        "compactMap", "withAnimation", "withCheckedContinuation", "withCheckedThrowingContinuation",
    ])

    /// Whether the closures around a statement run on the main thread, or may do so: only their call knows.
    private func isOnMain(_ context: [String]) -> Bool {
        context.contains { step in
            let name = step.split(separator: ".").last.map { String($0.prefix { $0.isLetter || $0.isNumber }) }
            return name.map(Self.background.contains) == false || step.contains(".main") || step.contains("MainActor")
                || step.contains("onMain")
                || step.contains("runOnMain")
                || step.contains("mainQueue") || step.contains("mainThread")
        }
    }
}
