// SPDX-License-Identifier: Apache-2.0
import NFCLintEngine
import SwiftSyntax

extension Rule {
    static let scanWithoutAction = Rule(
        id: "SRC026",
        severity: .info,
        title: "A session begins without an action of the user",
        why: "The sheet covers the screen. It should appear when the user asks to scan, not when a screen appears.",
        fix: "Begin the session from a button.",
        bad: [
            .swift(
                """
                class Screen: UIViewController, NFCNDEFReaderSessionDelegate {
                    var session: NFCNDEFReaderSession?
                    func scan() {
                        guard NFCNDEFReaderSession.readingAvailable else { return }
                        session = NFCNDEFReaderSession(delegate: self, queue: .main, invalidateAfterFirstRead: false)
                        session?.alertMessage = "Hold your iPhone near the badge."
                        session?.begin()
                    }
                    override func viewDidLoad() {
                        super.viewDidLoad()
                        scan()
                    }
                }
                """
            ),
            .objective(
                """
                - (void)viewDidLoad {
                    [super viewDidLoad];
                    [self scan];
                }
                - (void)scan { [self.session beginSession]; }
                """
            ),
        ],
        good: [
            .swift(
                """
                class Reader: NSObject, NFCNDEFReaderSessionDelegate {
                    var session: NFCNDEFReaderSession?
                    var request: Int? { didSet { scan() } }
                    func scan() {
                        session = NFCNDEFReaderSession(delegate: self, queue: .main, invalidateAfterFirstRead: false)
                        session?.begin()
                    }
                    func read(from block: Int) -> Int? { request }
                    func load() { scan() }
                }
                class Cloud { func load() {} }
                struct Screen: View {
                    let reader: Reader
                    let cloud: Cloud
                    var body: some View { Text("Doors").task { cloud.load(); store.files.read() } }
                }
                """
            ),
            .swift(
                """
                class Screen: UIViewController, NFCNDEFReaderSessionDelegate {
                    var session: NFCNDEFReaderSession?
                    func scan() {
                        guard NFCNDEFReaderSession.readingAvailable else { return }
                        session = NFCNDEFReaderSession(delegate: self, queue: .main, invalidateAfterFirstRead: false)
                        session?.alertMessage = "Hold your iPhone near the badge."
                        session?.begin()
                    }
                    @IBAction func pressed(_ sender: Any) { scan() }
                }
                """
            ),
            .objective(
                """
                - (void)viewDidLoad {
                    [super viewDidLoad];
                    [self.button onTap:^{ [self.session beginSession]; }];
                }
                """
            ),
        ],
        check: { unit, findings in
            for file in unit.objective {
                for (method, statement) in file.unaskedBegins {
                    let text = "A session begins in \(method.name), without an action of the user."
                    findings.add(statement.place, text)
                }
            }
            var seen: Set<Place> = []
            for (begin, call) in unit.sessions.begins {
                for number in unit.index.allCallers(begin, depth: 3) {
                    let function = unit.index.functions[number]
                    let isStart = starts(function, unit) && (number != begin || !isInClosure(call))
                    let appearing = function.calls.first { call in
                        let isOn = call.context.contains {
                            ["onAppear", "task"].contains($0.split(separator: ".").last.map(String.init) ?? "")
                        }
                        return isOn && (number == begin ? call.name == "begin" : reaches(call, begin, function, unit))
                    }
                    guard isStart || appearing != nil else { continue }
                    let step =
                        appearing
                        ?? function.calls.first {
                            number == begin
                                ? $0.name == "begin" : reaches($0, begin, function, unit) && !isInClosure($0)
                        }
                    guard let step, let place = unit.place(step.node, number), seen.insert(place).inserted else {
                        continue
                    }
                    findings.add(
                        place,
                        """
                        A session begins in \(appearing == nil ? function.name : "onAppear"), without an action of \
                        the user.
                        """
                    )
                }
            }
        }
    )
    private static let starts: Set<String> = [
        "viewDidLoad", "viewWillAppear", "viewDidAppear", "awakeFromNib", "loadView",
    ]

    private static func starts(_ function: FunctionInfo, _ unit: Unit) -> Bool {
        if starts.contains(function.name) { return true }
        return function.kind == .initializer && isCreatedAutomatically(function.owner, unit)
            || function.name == "application" && function.labels.last == "didFinishLaunchingWithOptions"
    }

    /// Whether objects of a type are created without a user action, like screens and property values.
    private static func isCreatedAutomatically(_ owner: String?, _ unit: Unit) -> Bool {
        guard let owner, let type = unit.index.types[owner] else { return false }
        if type.inherited.contains(where: {
            $0.hasSuffix("ViewController") || $0 == "View" || $0 == "UIView" || $0 == "App"
        }) {
            return true
        }
        return unit.createdTypes.byProperty.contains(owner)
    }

    /// Whether a call is in a closure that runs later, such as a button's action.
    private static func isInClosure(_ call: CallInfo) -> Bool {
        call.context.contains { !$0.hasPrefix("DispatchQueue") && !$0.hasPrefix("Task") }
    }

    private static func reaches(_ call: CallInfo, _ begin: Int, _ function: FunctionInfo, _ unit: Unit) -> Bool {
        guard call.base != "super" else { return false }
        return unit.index.targets(of: call, in: function).contains {
            $0 == begin || unit.index.reach($0, depth: 2).contains(begin)
        }
    }
}
