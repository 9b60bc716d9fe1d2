;;; eglot.el --- Emacs' eglot runs the server and its commands  -*- lexical-binding: t -*-
;; emacs --batch -l eglot.el.  The recipe is in the README of the client.

(require 'eglot)
(require 'cl-lib)

;; The recipe.
(add-to-list 'eglot-server-programs '(text-mode . ("sessionls")))

(defun sessionls--run (command &rest arguments)
  "Run COMMAND of the contract with ARGUMENTS, a property list."
  (jsonrpc-request (eglot-current-server) :workspace/executeCommand
                   (list :command (concat "sessionls." command)
                         :arguments (vector (or arguments (make-hash-table))))))

(defvar sessionls-status nil "The last status that the server told.")
(cl-defmethod eglot-handle-notification (_server (_method (eql sessionls/status)) &rest status)
  (setq sessionls-status status))

;; The test.
(setq eglot-sync-connect t eglot-connect-timeout 60 eglot-autoshutdown t)
(let ((passed 0) (failed 0))
  (cl-flet ((check (name holds)
              (if holds (cl-incf passed)
                (cl-incf failed)
                (princ (format "FAIL eglot: %s\n" name)))))
    (with-current-buffer (find-file-noselect (expand-file-name "notes.txt" temporary-file-directory))
      (text-mode)
      (apply #'eglot--connect (eglot--guess-contact))
      (check "connected" (eglot-current-server))
      (check "undecided" (equal (plist-get (sessionls--run "searchSessions" :query "harbor") :kind) "unavailable"))
      (sessionls--run "setPolicy" :enabled t)
      (let* ((answer (sessionls--run "searchSessions" :query "harbor tide table" :freshness "wait-until-current"))
             (hits (plist-get answer :hits)))
        (check "results" (equal (plist-get answer :kind) "results"))
        (check "the session" (equal (plist-get (aref hits 0) :title) "tide DST fix")))
      (check "status" (eq (plist-get (sessionls--run "searchStatus") :enabled) t))
      (with-timeout (20) (while (not (> (or (plist-get sessionls-status :sessions) 0) 0)) (accept-process-output nil 0.05)))
      (check "the notification" (> (or (plist-get sessionls-status :sessions) 0) 0))
      (check "workspace symbols"
             (> (length (jsonrpc-request (eglot-current-server) :workspace/symbol '(:query "harbor"))) 0))
      (eglot-shutdown (eglot-current-server))))
  (princ (format "\n%d passed, %d failed\n" passed failed))
  (kill-emacs (if (zerop failed) 0 1)))
